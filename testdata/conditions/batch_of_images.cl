// A batch of images of several sizes: where each begins, its pitch and the step from channel to channel lie in buffers, an element for
// each image; the place goes up by the step.
// expect: clean
kernel void brighten(global uchar *out, global const uchar *in, global const float *by, global const uint *width,
                     global const uint *height, global const uint *pitch, global const ulong *start, global const uint *plane,
                     const uint channels, const int step) {
    const uint x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    ulong at = start[image] + (x + y * pitch[image]) * step;
    if (x < width[image] && y < height[image])
        for (uint c = 0; c < channels; ++c) {
            out[at] = convert_uchar_sat(in[at] * by[image]);
            at += plane[image];
        }
}
