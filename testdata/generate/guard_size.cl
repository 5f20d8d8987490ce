// The width of a picture stands in a buffer, and every work-item divides by it before anything else.
kernel void guard_size(global const int *size, global const uchar *in, global uchar *out) {
    int width = size[0];
    int x = get_global_id(0) % width;
    int y = get_global_id(0) / width;
    uchar p = in[y * width + x];
    if (x == 0) // -> false covered
        p = 1;
    else if (x == width - 1 && p == 201) // -> true covered
        p = 2;
    out[get_global_id(0)] = p;
}
