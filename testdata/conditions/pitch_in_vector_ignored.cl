// The pitch is a component of a vector in a buffer, but the rows that are written have none.
// expect: racy
kernel void invert(global uchar *out, global const uchar *in, constant int4 *size) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < size->x && y < size->y)
        out[y + x] = 255 - in[y * size->w + x];
}
