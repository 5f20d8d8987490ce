// A balance in doubles that has to come out even.
kernel void double_budget(global const double *rate, global int *out, double capital, int years) {
    int i = get_global_id(0);
    double interest = capital * rate[i];
    if (years == 3 && interest == 37.5 && capital > 100.0) // -> true covered/unknown
        out[i] = 1;
    else
        out[i] = 0;
}
