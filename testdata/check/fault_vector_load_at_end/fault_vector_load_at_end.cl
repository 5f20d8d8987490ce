// The last vector of four begins three elements before the end.
// expect: memory-fault
// finding A: out-of-bounds global in
kernel void windows(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    float4 v = vload4(0, in + i); // <- A
    out[i] = v.x + v.y + v.z + v.w;
}
