kernel void clip(global const int *in, global int *out, int low, int high)
{
    int first = get_global_id(0) * TILE;
    for (int k = first; k < first + TILE; k++) {
        int x = in[k];
        if (x < low) x = low;
#if HIGH
        if (x > high) x = high;
#endif
        if (MARKED(x)) x = -x;
        out[k] = x;
    }
}
