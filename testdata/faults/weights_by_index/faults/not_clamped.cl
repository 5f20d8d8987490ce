// fault: out-of-bounds: the index is taken as it is.
//
// Looks weights up in a table in constant memory; indices beyond its ends take the weight at the end.
constant float weights[4] = {0.25f, 0.5f, 0.125f, 2.0f};

kernel void weigh(global const int *at, global float *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = weights[at[i]];
}
