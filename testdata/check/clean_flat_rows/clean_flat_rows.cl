// A tile of rows is filled through a pointer to its first element, and read by rows; private rows likewise.
// expect: clean all-interleavings
typedef struct {
    int head;
    int rows[3][4];
} box;

kernel void flat(global const int *in, global int *out) {
    local int tile[4][8];
    local int *first = &tile[0][0];
    int l = get_local_id(0);
    first[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    box mine;
    int *all = &mine.rows[0][0];
    for (int k = 0; k < 12; k++) all[k] = tile[k % 4][(l + k) % 8];
    mine.head = 0;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++) mine.head += mine.rows[y][x];
    out[get_global_id(0)] = mine.head;
}
