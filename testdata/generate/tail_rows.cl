// Rows that no multiple of the group's height gives, in two dimensions.
kernel void tail_rows(global int *image, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (width < 0 || height < 0)
        return;
    if (x < width && y >= height) // -> true covered
        return;
    if (x >= width) // -> true covered
        return;
    if (height % get_local_size(1) != 0 && height > (int)get_local_size(1)) // -> true covered
        image[y * width + x] = 1;
    else
        image[y * width + x] = 2;
}
