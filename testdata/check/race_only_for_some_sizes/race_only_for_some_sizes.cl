// Whether the rows overlap depends on the pitch: this suite has a narrow one.
// expect: racy
// finding A: data-race intra-group global out
kernel void rows(global int *out, int width, int pitch) {
    int y = (int)get_global_id(0);
    for (int x = 0; x < width; x++)
        out[y * pitch + x] = y; // <- A
}
