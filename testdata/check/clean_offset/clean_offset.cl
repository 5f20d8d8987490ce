// A launch with an offset: ids begin there, the buffer is long enough.
// expect: clean all-interleavings
kernel void later(global int *out) {
    size_t i = get_global_id(0);
    out[i] = (int)(i - get_global_offset(0));
}
