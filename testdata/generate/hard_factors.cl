// The factors of a product of two large primes, and a square root of 64 bits.
kernel void hard_factors(global int *out, ulong p, ulong q) {
    int r = 0;
    if (p > 1 && q > 1 && p < 4294967296ul && q < 4294967296ul) {
        if (p * q == 18446743979220271189ul) // -> true covered/unknown
            r = 1;
    }
    if (p * p == 17ul && q == 99999) // -> true covered/unknown
        r |= 2;
    out[get_global_id(0)] = r;
}
