// The check of n says that launches are larger than it: no condition on n may say that they are not.
// expect: divergent
kernel void shift(global int *data, int n, local int *tile) {
    const size_t i = get_global_id(0), l = get_local_id(0);
    if (i >= n)
        return;
    tile[l] = data[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[i] = tile[l] + 1;
}
