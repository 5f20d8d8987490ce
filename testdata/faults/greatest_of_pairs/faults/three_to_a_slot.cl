// fault: output: three neighbours share a slot.
//
// The greater value of each pair of neighbours.
kernel void halves(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        atomic_max(&out[i / 3], in[i]);
}
