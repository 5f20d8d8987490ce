// Eight rows of work-items fill a tile of 32 rows in four steps.
// expect: clean
kernel void turn(global const float *in, global float *out, int width, int height) {
    local float tile[32][33];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int x = get_group_id(0) * 32 + lx, y = get_group_id(1) * 32 + ly;
    for (int step = 0; step < 32; step += 8)
        if (x < width && y + step < height)
            tile[ly + step][lx] = in[(y + step) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int to_x = get_group_id(1) * 32 + lx, to_y = get_group_id(0) * 32 + ly;
    for (int step = 0; step < 32; step += 8)
        if (to_x < height && to_y + step < width)
            out[(to_y + step) * height + to_x] = tile[lx][ly + step];
}
