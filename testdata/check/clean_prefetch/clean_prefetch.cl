// While one half of the tile is summed up, the next one is copied into the other half.
// expect: clean all-interleavings
kernel void column_sums(global const int *in, global int *out, local int *tile, int rows) {
    size_t l = get_local_id(0), n = get_local_size(0);
    int sum = 0;
    event_t coming = async_work_group_copy(tile, in, n, 0);
    for (int r = 0; r < rows; r++) {
        wait_group_events(1, &coming);
        if (r + 1 < rows)
            coming = async_work_group_copy(tile + (r + 1) % 2 * n, in + (r + 1) * n, n, 0);
        local const int *row = tile + r % 2 * n;
        sum += row[l] + row[n - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum;
}
