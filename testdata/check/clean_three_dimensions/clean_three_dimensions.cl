// Three dimensions, each item its own element.
// expect: clean all-interleavings
kernel void cube(global int *out) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] = (int)(x + 10 * y + 100 * z);
}
