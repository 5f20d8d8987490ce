// Two global buffers take turns as source and target; one group, and the barrier names global memory.
// expect: clean all-interleavings
kernel void relax(global float *a, global float *b, int rounds) {
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    global float *from = a, *to = b;
    for (int r = 0; r < rounds; r++) {
        float left = from[l > 0 ? l - 1 : l], right = from[l < n - 1 ? l + 1 : l];
        to[l] = 0.25f * left + 0.5f * from[l] + 0.25f * right;
        barrier(CLK_GLOBAL_MEM_FENCE);
        global float *turn = from;
        from = to;
        to = turn;
    }
}
