// A division by zero that is asked for.
kernel void fault_division(global int *out, int n) {
    int v = 1;
    if (n == 0) // -> true covered-with-fault/unknown, false covered
        v = 100 / n;
    else if (n > 5) // -> true covered
        v = 2;
    out[get_global_id(0)] = v;
}
