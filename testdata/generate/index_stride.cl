// A value in an element whose index is computed.
kernel void index_stride(global const int *table, global int *out, int n) {
    int i = get_global_id(0);
    int r = 0;
    if (n > 0) {
        int at = (i * 7 + 3) % n;
        if (table[at] == 12345) // -> true covered
            r = 1;
        if (at > 4 && table[at] - table[at - 1] == 777) // -> true covered
            r += 2;
    }
    out[i] = r;
}
