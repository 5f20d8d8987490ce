// fault: data-race, out-of-bounds: rows run into the first element of the next one where they are as wide as the
// pitch or wider.
//
// Each work-item fills its row, which ends at the pitch.
kernel void rows(global int *out, int height, int width, int pitch) {
    int y = (int)get_global_id(0);
    if (y >= height)
        return;
    for (int x = 0; x <= width && x <= pitch; x++)
        out[y * pitch + x] = y;
}
