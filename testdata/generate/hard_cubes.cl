// The sum of three cubes of 64 bits.
kernel void hard_cubes(global int *out, long x, long y, long z) {
    ulong a = x, b = y, c = z;
    int r = 0;
    if (a * a * a + b * b * b + c * c * c == 1000000000039ul && a > 1 && b > 1 && c > 1) // -> true covered/unknown
        r = 1;
    if (x == 12 && y == -3) // -> true covered
        r |= 2;
    out[get_global_id(0)] = r;
}
