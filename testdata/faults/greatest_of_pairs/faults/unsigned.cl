// fault: output: values are compared as unsigned ones.
//
// The greater value of each pair of neighbours.
kernel void halves(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        atomic_max((global uint *)&out[i / 2], (uint)in[i]);
}
