// One work-item fills a table, all read all of it behind the barrier, beside a table that is constant.
// expect: clean all-interleavings
constant int weights[4] = {1, 3, 3, 1};

kernel void weigh(global const int *in, global int *out, int shift) {
    local int table[4];
    if (get_local_id(0) == get_local_size(0) - 1)
        for (int k = 0; k < 4; k++)
            table[k] = weights[k] << shift;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += in[get_group_id(0)] * table[k] + in[k];
    out[get_global_id(0)] = sum;
}
