// Each group has a row, but its work-items all add to the same sum: that several rows would do so, too, is no excuse.
// expect: racy
kernel void sum_rows(global const float *rows, global float *sums, int width) {
    const size_t row = get_group_id(1);
    for (size_t x = get_local_id(0); x < width; x += get_local_size(0))
        sums[row] += rows[row * width + x];
}
