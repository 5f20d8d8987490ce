// Transposes tiles twice: a column of the first tile lies in one bank of local memory, that of the padded one in all.
// expect: clean all-interleavings
#define SIDE 32

kernel void transpose(global const float *in, global float *out, global float *same, int n) {
    local float tile[SIDE][SIDE], padded[SIDE][SIDE + 1];
    int x = get_local_id(0), y = get_local_id(1);
    int from = (get_group_id(1) * SIDE + y) * n + get_group_id(0) * SIDE + x;
    tile[y][x] = in[from];
    padded[y][x] = in[from];
    barrier(CLK_LOCAL_MEM_FENCE);
    int to = (get_group_id(0) * SIDE + y) * n + get_group_id(1) * SIDE + x;
    out[to] = tile[x][y];
    same[to] = padded[x][y];
}
