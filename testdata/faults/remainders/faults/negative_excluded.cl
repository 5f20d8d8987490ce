// fault: output: all negative divisors give 0.
//
// Remainders; 0 for the divisors 0 and -1, for which the remainder has no value or may overflow.
kernel void remainders(global const int *a, global const int *b, global int *out) {
    int i = (int)get_global_id(0);
    out[i] = b[i] <= 0 ? 0 : a[i] % b[i];
}
