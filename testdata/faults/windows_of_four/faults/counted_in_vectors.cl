// fault: out-of-bounds: the address is counted in vectors.
//
// Sums of four consecutive elements, as far as there are four.
kernel void windows(global const float *in, global float *out, int n) {
    int i = (int)get_global_id(0);
    if (i + 4 <= n) {
        float4 v = vload4(i, in);
        out[i] = v.x + v.y + v.z + v.w;
    }
}
