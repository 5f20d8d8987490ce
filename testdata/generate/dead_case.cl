// Cases of a switch that the masked value does not have.
kernel void dead_case(global const int *op, global int *out) {
    int i = get_global_id(0);
    int r;
    switch (op[i] & 3) { // -> case 3 covered, case 7 infeasible, default infeasible
    case 0:
        r = 10;
        break;
    case 1:
        r = 11;
        break;
    case 2:
        r = 12;
        break;
    case 3:
        r = 13;
        break;
    case 7:
        r = 17;
        break;
    default:
        r = 18;
    }
    out[i] = r;
}
