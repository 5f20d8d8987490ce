// fault: barrier-divergence: work-items behind the end do not meet the barrier.
//
// Each of the first n elements is doubled and exchanged with its neighbour in the group, through global memory.
kernel void last_group(global int *tmp, global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0);
    if (i < n) {
        tmp[i] = 2 * in[i];
        barrier(CLK_GLOBAL_MEM_FENCE);
        out[i] = (i ^ 1) < n ? tmp[i ^ 1] : 0;
    }
}
