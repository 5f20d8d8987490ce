// fault: out-of-bounds: the end of the buffer is not checked.
//
// Sums of four consecutive elements, as far as there are four.
kernel void windows(global const float *in, global float *out, int n) {
    int i = (int)get_global_id(0);
    {
        float4 v = vload4(0, in + i);
        out[i] = v.x + v.y + v.z + v.w;
    }
}
