// Vectors of three and four side by side, without overlap.
// expect: clean all-interleavings
kernel void spread(global const float *in, global float *threes, global float4 *fours) {
    size_t i = get_global_id(0);
    float3 v = vload3(i, in);
    vstore3(v * 2.0f, i, threes);
    fours[i] = (float4)(v, 1.0f);
}
