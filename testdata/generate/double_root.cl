// Doubles: a window narrower than a float can tell, and a square.
kernel void double_root(global const double *x, global int *out, double eps) {
    int i = get_global_id(0);
    double v = x[i];
    int r = 0;
    if (v > 1.0 && v < 1.0000000001) // -> true covered
        r = 1;
    if (v * v == 6.25) // -> true covered
        r += 2;
    if (eps > 0.0 && eps < 1e-300) // -> true covered
        r += 4;
    out[i] = r;
}
