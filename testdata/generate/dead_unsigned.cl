// Unsigned numbers below zero, and narrow ones beyond their type.
kernel void dead_unsigned(global const uchar *bytes, global const ushort *words, global int *out, uint count) {
    int i = get_global_id(0);
    int r = 0;
    if (count - 1 < 0u) // -> true infeasible
        r = 1;
    if (bytes[i] > 255) // -> true infeasible
        r |= 2;
    if (words[i] + bytes[i] > 70000) // -> true infeasible
        r |= 4;
    if (bytes[i] * bytes[i] == 65025) // -> true covered
        r |= 8;
    out[i] = r;
}
