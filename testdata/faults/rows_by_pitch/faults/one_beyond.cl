// fault: output: one element too many, which exists where the pitch leaves room.
//
// Each work-item fills its row, which ends at the pitch.
kernel void rows(global int *out, int height, int width, int pitch) {
    int y = (int)get_global_id(0);
    if (y >= height)
        return;
    for (int x = 0; x <= width && x < pitch; x++)
        out[y * pitch + x] = y;
}
