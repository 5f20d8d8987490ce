// The divisor is looked at before it divides.
// expect: clean all-interleavings
kernel void shares(global const int *total, global const int *count, global int *out) {
    size_t i = get_global_id(0);
    out[i] = count[i] != 0 ? total[i] / count[i] : -1;
}
