// What a sort has left behind, with conditions over places.
kernel void hard_sorted(global const int *in, global int *out) {
    int i = get_global_id(0);
    int v[8];
    for (int k = 0; k < 8; k++)
        v[k] = in[i * 8 + k];
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 7 - a; b++)
            if (v[b] > v[b + 1]) { // -> true covered, false covered
                int t = v[b];
                v[b] = v[b + 1];
                v[b + 1] = t;
            }
    int r = 0;
    if (v[3] == 4444 && v[2] < 4000) // -> true covered/unknown
        r = 1;
    if (v[0] > v[7]) // -> true infeasible/unknown
        r |= 2;
    out[i] = r;
}
