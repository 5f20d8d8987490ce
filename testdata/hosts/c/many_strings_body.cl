/* The kernel of many_strings.c, without the types and constants that the program puts before it. */
kernel void weave(global const number *a, global const number *b, global number *out)
{
    int i = get_global_id(0);
    if (i % PERIOD == 0)
        out[i] = combined(a[i], b[i]);
    else
        out[i] = i % 2 ? a[i] : b[i];
}
