// Sizes lie in a struct in a buffer, but two work-items write each element of a row, whatever the sizes are.
// expect: racy
typedef struct {
    int x, y, width, height;
} region_t;

kernel void spread(global float *image, global const float *in, global const region_t *part) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= part->width - 1 || y >= part->height)
        return;
    image[y * part->width + x] = in[y * part->width + x];
    image[y * part->width + x + 1] = 0.5f * in[y * part->width + x];
}
