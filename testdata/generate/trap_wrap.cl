// Looks impossible, but numbers wrap.
kernel void trap_wrap(global const uint *x, global int *out) {
    int i = get_global_id(0);
    uint v = x[i];
    int r = 0;
    if (v + 1 < v) // -> true covered
        r = 1;
    if (0u - v == v && v != 0) // -> true covered
        r |= 2;
    if (v * v == 0 && v != 0) // -> true covered
        r |= 4;
    if (v * 3u == 1u) // -> true covered
        r |= 8;
    if ((uchar)v == 0 && v > 70000u) // -> true covered
        r |= 16;
    out[i] = r;
}
