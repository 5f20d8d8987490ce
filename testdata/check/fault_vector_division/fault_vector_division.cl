// One component of a vector of divisors is zero.
// expect: memory-fault
// finding A: division
kernel void parts(global const uint4 *a, global const uint4 *b, global uint4 *out) {
    size_t i = get_global_id(0);
    out[i] = a[i] / b[i]; // <- A
}
