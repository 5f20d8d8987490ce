// A line of an image is kept in local memory by rows of work-items. Both coordinates are in one vector, but only the first one is
// moved: groups of several rows would share the line.
// expect: conditional `get_local_size(1) == 1`
kernel void spread(read_only image2d_t in, write_only image2d_t out, int reach, local float4 *line) {
    const int width = get_image_width(in), size = get_local_size(0), l = get_local_id(0);
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const int first = max((int)(get_group_id(0) * size) - reach, 0), last = min((int)(get_group_id(0) + 1) * size + reach, width - 1);
    int2 from = (int2)(first, at.y) + (int2)(l, 0);
    for (int i = l; from.x <= last; i += size, from.x += size)
        line[i] = read_imagef(in, from);
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 sum = 0.0f;
    for (int x = max(at.x - reach, 0); x <= min(at.x + reach, last); x++)
        sum = fmax(sum, line[x - first]);
    if (at.x < width)
        write_imagef(out, at, sum);
}
