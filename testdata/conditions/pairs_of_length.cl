// Two elements for each work-item, of which the first is checked.
// expect: conditional `n % 2 == 0`
kernel void swap_pairs(global const int *in, global int *out, int n) {
    const int i = 2 * get_global_id(0);
    if (i >= n)
        return;
    out[i] = in[i + 1];
    out[i + 1] = in[i];
}
