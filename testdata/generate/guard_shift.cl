// What is divided by comes from a buffer by way of a shift and a mask that another buffer says.
kernel void guard_shift(global const uint *words, global const uchar *shifts, global uint *out) {
    int i = get_global_id(0);
    uint part = (words[i] >> (shifts[0] & 31)) & 0xff;
    uint n = 100000 / part;
    if (n == 100000 / 77 && shifts[0] == 12) // -> true covered/unknown
        out[i] = 1;
    else
        out[i] = n;
}
