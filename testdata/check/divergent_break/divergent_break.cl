// The first item leaves the loop early and waits no more.
// expect: divergent
// finding A: barrier-divergence
kernel void leave(global const int *in, global int *out, int rounds) {
    int l = (int)get_local_id(0), sum = 0;
    for (int r = 0; r < rounds; r++) {
        sum += in[r];
        if (sum > 10 && l == 0)
            break;
        barrier(CLK_LOCAL_MEM_FENCE); // <- A
    }
    out[l] = sum;
}
