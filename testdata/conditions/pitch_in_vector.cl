// Width, height and pitch are components of a vector in a buffer of constants.
// expect: clean
kernel void invert(global uchar *out, global const uchar *in, constant int4 *size) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < size->x && y < size->y)
        out[y * size->z + x] = 255 - in[y * size->w + x];
}
