// One component of a vector, in a buffer and in an argument.
kernel void vector_pixel(global const uchar4 *pixels, global uchar4 *out, int4 key) {
    int i = get_global_id(0);
    uchar4 p = pixels[i];
    if (p.z == 199 && p.w == 3) // -> true covered
        p = (uchar4)(0, 0, 0, 255);
    if (key.s2 == -70001) // -> true covered
        p.x = 1;
    out[i] = p;
}
