// A hundred kilobytes of private memory per item.
// expect: clean all-interleavings
// finding A: redundant-barrier
kernel void hoard(global const int *in, global int *out) {
    int mine[25600];
    int l = (int)get_local_id(0);
    for (int k = 0; k < 25600; k++)
        mine[k] = k * in[l];
    barrier(CLK_GLOBAL_MEM_FENCE); // <- A
    out[l] = mine[in[l] * 1000] + mine[25599];
}
