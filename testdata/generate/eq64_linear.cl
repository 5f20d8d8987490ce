// A line through 64-bit space: two signed arguments and a constant that no small number gives.
kernel void eq64_linear(global long *out, long x, long y) {
    ulong p = (ulong)x * 6364136223846793005ul + (ulong)y;
    long r = 0;
    if (p == 1442695040888963407ul) // -> true covered
        r = 1;
    if ((x ^ y) == 0x0123456789abcdefl) { // -> true covered
        if ((x & 0xffff) == 0x7777) // -> true covered
            r += 2;
    }
    out[get_global_id(0)] = r;
}
