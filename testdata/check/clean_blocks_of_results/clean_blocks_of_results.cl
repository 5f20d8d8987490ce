// Each work-item keeps two by two results in registers and writes them where nobody else does.
// expect: clean all-interleavings
kernel void outer_product(global const float *a, global const float *b, global float *c, int width) {
    int x = 2 * (int)get_global_id(0), y = 2 * (int)get_global_id(1);
    float2 left = vload2(0, a + y), top = vload2(0, b + x);
    vstore2(left.x * top, 0, c + y * width + x);
    vstore2(left.y * top, 0, c + (y + 1) * width + x);
}
