// fault: out-of-bounds: rows are a width apart.
//
// Each work-item fills its row, which ends at the pitch.
kernel void rows(global int *out, int height, int width, int pitch) {
    int y = (int)get_global_id(0);
    if (y >= height)
        return;
    for (int x = 0; x < width && x < pitch; x++)
        out[y * width + x] = y;
}
