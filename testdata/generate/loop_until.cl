// The first element that fits ends the loop; it has to be the twelfth.
kernel void loop_until(global const int *in, global int *out, int n, int bound) {
    int at = -1;
    for (int k = 0; k < n; k++) {
        if (in[k] > bound) { // -> true covered, false covered
            at = k;
            break;
        }
    }
    if (at == 11 && bound > 9000) // -> true covered
        out[get_global_id(0)] = 1;
    else
        out[get_global_id(0)] = 0;
}
