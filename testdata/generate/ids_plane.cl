// Two dimensions: a diagonal, a corner, and a launch with more rows than columns.
kernel void ids_plane(global int *out) {
    size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    int r = 0;
    if (x == y && x > 2) // -> true covered
        r = 1;
    if (x == w - 1 && y == h - 1 && h > w && w > 1) // -> true covered
        r |= 2;
    if (get_group_id(0) == 2 && get_group_id(1) == 1) // -> true covered
        r |= 4;
    out[y * w + x] = r;
}
