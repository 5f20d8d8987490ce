// The least integer by -1 has no result.
// expect: memory-fault
// finding A: division
kernel void remainders(global const int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] % b[i]; // <- A
}
