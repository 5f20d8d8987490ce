// Tiles are copied ahead, one more than is used: the last copy of each group is never waited for.
// expect: memory-fault
// finding A: unawaited-copy
kernel void sums(global const int *in, global int *out, int tiles) {
    local int ahead[2][8];
    size_t l = get_local_id(0), n = get_local_size(0);
    event_t next = async_work_group_copy(ahead[0], in, n, 0);
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        wait_group_events(1, &next);
        next = async_work_group_copy(ahead[(t + 1) % 2], in + (t + 1) * n, n, 0); // <- A
        sum += ahead[t % 2][(l + 1) % n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}
