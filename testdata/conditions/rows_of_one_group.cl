// The second dimension has only local ids: the group's rows of work-items share out the planes, and there are no groups above it.
// expect: clean
kernel void sum_planes(global const float *planes, global float *sums, int count, int size) {
    const int x = get_global_id(0), part = get_local_id(1), parts = get_local_size(1);
    local float partial[8][32];
    float sum = 0.0f;
    if (x < size)
        for (int plane = part; plane < count; plane += parts)
            sum += planes[plane * size + x];
    partial[part][get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part != 0 || x >= size)
        return;
    for (int other = 1; other < parts; ++other)
        sum += partial[other][get_local_id(0)];
    sums[x] = sum;
}
