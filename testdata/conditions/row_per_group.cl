// Each work-group has a row of its own, in which its work-items go along one dimension: groups have one row of them.
// expect: clean
kernel void normalise(global float *rows, int width) {
    const size_t row = get_group_id(1);
    for (size_t x = get_global_id(0); x < width; x += get_global_size(0))
        rows[row * width + x] = rows[row * width + x] / 255.0f;
}
