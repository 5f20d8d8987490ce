// Red, green and blue of packed three-byte pixels, each by another work-item.
// expect: clean all-interleavings
kernel void tint(global const uchar *gray, global uchar *rgb, uint weights) {
    size_t i = get_global_id(0), channel = get_global_id(1);
    uchar weight = (uchar)(weights >> (8 * channel));
    rgb[3 * i + channel] = (uchar)((gray[i] * weight) >> 8);
}
