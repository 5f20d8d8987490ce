// The divisor comes from a buffer and is zero once.
// expect: memory-fault
// finding A: division
kernel void shares(global const int *total, global const int *count, global int *out) {
    size_t i = get_global_id(0);
    out[i] = total[i] / count[i]; // <- A
}
