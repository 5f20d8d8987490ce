// Rows and planes of a volume: two free strides, one times the other.
// expect: clean
kernel void decay(global float *volume, int height, int width, float by) {
    const size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    volume[(z * height + y) * width + x] *= by;
}
