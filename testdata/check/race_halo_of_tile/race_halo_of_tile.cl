// The halo is loaded by the border's items after the barrier instead of before it.
// expect: racy
// finding A: data-race intra-group local tile
kernel void blur(global const float *in, global float *out, int n) {
    local float tile[18];
    int l = (int)get_local_id(0), i = (int)get_global_id(0), size = (int)get_local_size(0);
    tile[l + 1] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (l == 0)
        tile[size + 1] = i + size < n ? in[i + size] : 0.0f; // <- A
    out[i] = tile[l] + tile[l + 1] + tile[l + 2]; // <- A
}
