// fault: out-of-bounds: the guard asks for the vector's first element only.
//
// Each work-item stores a vector of four consecutive numbers.
kernel void apart(global float *out, int n) {
    int i = (int)get_global_id(0);
    if (4 * i < n)
        vstore4((float4)(i, i + 1, i + 2, i + 3), 0, out + 4 * i);
}
