// An index from a buffer goes beyond a private array.
// expect: memory-fault
// finding A: out-of-bounds private digits
kernel void digits_of(global const int *at, global int *out) {
    size_t i = get_global_id(0);
    int digits[4] = {1, 10, 100, 1000};
    out[i] = digits[at[i]]; // <- A
}
