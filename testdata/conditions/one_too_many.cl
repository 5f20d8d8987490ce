// The check lets one work-item too many in, wherever a launch is larger than n.
// expect: memory-fault
kernel void copy(global const int *in, global int *out, int n) {
    const int i = get_global_id(0);
    if (i <= n)
        out[i] = in[i];
}
