// fault: data-race, out-of-bounds: rows run into the next one where the pitch is less than the width.
//
// Each work-item fills its row, which ends at the pitch.
kernel void rows(global int *out, int height, int width, int pitch) {
    int y = (int)get_global_id(0);
    if (y >= height)
        return;
    for (int x = 0; x < width; x++)
        out[y * pitch + x] = y;
}
