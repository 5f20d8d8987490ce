// A pattern of colours in a buffer, repeated over a picture, says what is done with a pixel and its neighbour.
int colour(int row, int column, global const uchar (*pattern)[6]) {
    return pattern[row % 6][column % 6];
}
kernel void lookup_pattern(global float *picture, int width, int height, int x0, int y0,
                           global const uchar (*const pattern)[6]) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int here = colour(y + y0, x + x0, pattern);
    int right = colour(y + y0, x + x0 + 1, pattern);
    float v = picture[y * width + x];
    if (here == 1) // -> true covered
        return;
    if (here == 2 && right == 0) // -> true covered
        v += 1.0f;
    else if (here == right && here == 37) // -> true covered
        v += 2.0f;
    picture[y * width + x] = v;
}
