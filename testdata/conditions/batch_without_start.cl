// A batch of images, each with its pitch in a buffer, but all are written to the same place.
// expect: racy
kernel void darken(global uchar *out, global const uchar *in, global const uint *width, global const uint *height,
                   global const uint *pitch, global const ulong *start, const uint channels, const uint plane) {
    const uint x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    const ulong at = x + y * pitch[image];
    if (x < width[image] && y < height[image])
        for (uint c = 0; c < channels; ++c)
            out[at + c * plane] = in[start[image] + at + c * plane] / 2;
}
