// Both offsets are in bytes, as hosts pass them for parts of a buffer: they have to suit the elements.
// expect: conditional `from % 4 == 0` and `to % 4 == 0`
kernel void brighten(global const char *image, ulong from, global char *result, ulong to, float by) {
    global const float *in = (global const float *)(image + from);
    global float *out = (global float *)(result + to);
    const size_t i = get_global_id(0);
    out[i] = in[i] * by + 0.5f;
}
