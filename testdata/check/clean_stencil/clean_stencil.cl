// In and out are different buffers; the halo is loaded before the barrier.
// expect: clean all-interleavings
kernel void blur(global const float *in, global float *out, int n) {
    local float tile[18];
    int l = (int)get_local_id(0), i = (int)get_global_id(0), size = (int)get_local_size(0);
    tile[l + 1] = in[i];
    if (l == 0)
        tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (l == size - 1)
        tile[size + 1] = i + 1 < n ? in[i + 1] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l] + tile[l + 1] + tile[l + 2];
}
