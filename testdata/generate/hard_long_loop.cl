// Something that only a very long loop comes to, and something after one that does not end in time.
kernel void hard_long_loop(global int *out, uint n, uint m) {
    uint x = 1;
    for (uint k = 0; k < n; k++)
        x = x * 1664525u + 1013904223u;
    int r = 0;
    if (x == 0xdeadbeefu) // -> true covered/unknown
        r = 1;
    if (n == 3000000000u) // -> true covered/unknown
        r |= 2;
    if (m == 3000000000u) // -> true covered
        r |= 4;
    out[get_global_id(0)] = r;
}
