// Constants in a table, none of which is as large or as odd as is asked for.
constant int weights[8] = {2, 4, 8, 12, 16, 20, 28, 30};
kernel void dead_table(global const int *x, global int *out) {
    int i = get_global_id(0);
    int w = weights[x[i] & 7];
    int r = 0;
    if (w > 30) // -> true infeasible
        r = 1;
    if (w & 1) // -> true infeasible
        r |= 2;
    if (w == 28) // -> true covered
        r |= 4;
    out[i] = r;
}
