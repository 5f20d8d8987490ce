// The greater value of each pair of neighbours.
// The right form of `testdata/check/race_shared_slot`.
kernel void halves(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n)
        atomic_max(&out[i / 2], in[i]);
}
