// fault: data-race: the barrier is missing.
//
// Sums of three neighbours; each group loads its elements and one more on either side into a tile.
kernel void blur(global const float *in, global float *out, int n) {
    local float tile[18];
    int l = (int)get_local_id(0), i = (int)get_global_id(0), size = (int)get_local_size(0);
    tile[l + 1] = i < n ? in[i] : 0.0f;
    if (l == 0) {
        tile[0] = i > 0 && i <= n ? in[i - 1] : 0.0f;
        tile[size + 1] = i + size < n ? in[i + size] : 0.0f;
    }
    if (i < n)
        out[i] = tile[l] + tile[l + 1] + tile[l + 2];
}
