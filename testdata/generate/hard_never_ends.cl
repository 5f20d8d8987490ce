// A walk that ends for few arguments, with work before and after it.
kernel void hard_never_ends(global int *out, uint x, int before) {
    int r = 0;
    if (before == 60606) // -> true covered
        r = 1;
    while (x != 12u) {
        x = x * 2u;
    }
    if (r == 1) // -> true covered/unknown, false covered/unknown
        out[get_global_id(0)] = 1;
    else
        out[get_global_id(0)] = 2;
}
