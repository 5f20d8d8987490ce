// Loops in loops in loops that stand for a recursion, bounded by an argument.
kernel void hard_nested_loops(global const uchar *in, global int *out, int depth) {
    int i = get_global_id(0), count = 0;
    int d = depth & 7;
    for (int a = 0; a <= d; a++)
        for (int b = a; b <= d; b++)
            for (int c = b; c <= d; c++)
                for (int e = c; e <= d; e++)
                    count += in[(a + b * 3 + c * 5 + e * 7) & 31] & 1;
    int r = 0;
    if (count == 101) // -> true covered/unknown
        r = 1;
    if (d == 7 && count == 0) // -> true covered/unknown
        r |= 2;
    out[i] = r;
}
