// `printf` from a few items.
// expect: clean all-interleavings
kernel void tell(global const int *in, global int *out) {
    int i = (int)get_global_id(0);
    out[i] = in[i] * in[i];
    if (i % 4 == 0)
        printf("%d squared is %d\n", in[i], out[i]);
}
