// Cases of a switch with and without a barrier.
// expect: divergent
// finding A: barrier-divergence
kernel void cases(global const int *kind, global int *out) {
    int l = (int)get_local_id(0);
    switch (kind[l]) {
    case 0:
        out[l] = 10;
        break;
    case 1:
        barrier(CLK_LOCAL_MEM_FENCE); // <- A
        out[l] = 11;
        break;
    default:
        out[l] = 12;
    }
}
