// fault: division: excludes 1 instead of -1.
//
// Remainders; 0 for the divisors 0 and -1, for which the remainder has no value or may overflow.
kernel void remainders(global const int *a, global const int *b, global int *out) {
    int i = (int)get_global_id(0);
    out[i] = b[i] == 0 || b[i] == 1 ? 0 : a[i] % b[i];
}
