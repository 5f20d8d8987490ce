// A private array whose elements are known where they are read.
kernel void dead_private_array(global const int *x, global int *out) {
    int i = get_global_id(0);
    int bins[4] = {0, 0, 0, 0};
    bins[1] = x[i] & 15;
    int r = 0;
    if (bins[2] != 0) // -> true infeasible
        r = 1;
    if (bins[1] == 16) // -> true infeasible
        r |= 2;
    if (bins[1] == 15) // -> true covered
        r |= 4;
    out[i] = r;
}
