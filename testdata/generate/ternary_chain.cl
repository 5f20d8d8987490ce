// Ternaries in ternaries.
kernel void ternary_chain(global const int *in, global int *out, int pivot) {
    int i = get_global_id(0);
    int v = in[i];
    int side = v < pivot
        ? (v + 4000 == pivot // -> true covered, false covered
           ? 1 : 2)
        : 3;
    int far = v > 100000000 ? v : pivot; // -> true covered
    out[i] = far == 123456789 ? -1 : side; // -> true covered
}
