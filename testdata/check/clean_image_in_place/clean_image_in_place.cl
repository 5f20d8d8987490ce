// An image read and written: each work-item its own texel.
// expect: clean all-interleavings
kernel void invert(read_write image2d_t picture) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    uint4 was = read_imageui(picture, at);
    write_imageui(picture, at, (uint4)(255) - was);
}
