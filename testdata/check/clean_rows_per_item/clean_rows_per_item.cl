// Each item owns a row; the pitch keeps rows apart.
// expect: clean all-interleavings
kernel void rows(global int *out, int width, int pitch) {
    int y = (int)get_global_id(0);
    for (int x = 0; x < width; x++)
        out[y * pitch + x] = y + (x > 0 ? out[y * pitch + x - 1] : 0);
}
