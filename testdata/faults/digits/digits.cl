// Looks up powers of ten in a private array; the index is taken modulo its length.
// The right form of `testdata/check/fault_private_array`.
kernel void digits_of(global const int *at, global int *out, int n) {
    int i = (int)get_global_id(0);
    int digits[4] = {1, 10, 100, 1000};
    if (i < n)
        out[i] = digits[at[i] & 3];
}
