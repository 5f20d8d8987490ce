// Cases for remainders: signed ones may be below zero, but not by that much.
kernel void dead_case_remainder(global const int *v, global int *out) {
    int i = get_global_id(0);
    int r = 0;
    switch (v[i] % 4) { // -> case -3 covered, case 3 covered, case 4 infeasible, case -4 infeasible, default covered
    case -4:
        r = 1;
        break;
    case -3:
        r = 2;
        break;
    case 3:
        r = 3;
        break;
    case 4:
        r = 4;
        break;
    }
    out[i] = r;
}
