// The switch depends on an argument: every item takes the same case.
// expect: clean all-interleavings
kernel void modes(global const int *in, global int *out, int mode) {
    local int tile[8];
    size_t l = get_local_id(0);
    switch (mode) {
    case 0:
        out[l] = in[l];
        break;
    case 1:
        tile[l] = in[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[l] = tile[7 - l];
        break;
    default:
        out[l] = 0;
    }
}
