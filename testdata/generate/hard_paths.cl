// Sixty-four turns with two ways each: nobody can try all paths, but a sum asks for one kind of them.
kernel void hard_paths(global const int *in, global int *out) {
    int i = get_global_id(0), up = 0, down = 0;
    for (int k = 0; k < 64; k++) {
        if (in[k] > in[k + 64]) // -> true covered, false covered
            up += k;
        else
            down++;
    }
    int r = 0;
    if (up == 1009) // -> true covered/unknown
        r = 1;
    if (down == 64) // -> true covered
        r |= 2;
    if (up + down > 2080) // -> true infeasible/unknown
        r |= 4;
    out[i] = r;
}
