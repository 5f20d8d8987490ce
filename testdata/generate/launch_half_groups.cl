// Work-groups of twice the block: one half loads rows, the other columns. Groups of one block take one side only, larger ones leave the
// arrays.
#define BLOCK 16
kernel void launch_half_groups(global float *m, int dim) {
    local float rows[BLOCK][BLOCK];
    local float columns[BLOCK][BLOCK];
    int tx = get_local_id(0);
    if (tx < BLOCK) { // -> true covered, false covered
        for (int i = 0; i < BLOCK; i++)
            rows[i][tx] = m[i * dim + tx];
    } else {
        int at = tx - BLOCK;
        for (int i = 0; i < BLOCK; i++)
            columns[i][at] = m[i * dim + BLOCK + at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tx < BLOCK) {
        for (int i = 0; i < BLOCK; i++)
            m[i * dim + tx] = rows[i][tx] + columns[0][tx];
    } else {
        int at = tx - BLOCK;
        for (int i = 0; i < BLOCK; i++)
            m[i * dim + BLOCK + at] = columns[i][at] - rows[i][0];
    }
}
