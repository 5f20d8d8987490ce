// A region of an image: its size and where it begins lie in a struct in a buffer, as does the size of the mask.
// expect: clean
typedef struct {
    int x, y, width, height;
    float scale;
} region_t;

kernel void shade(global float4 *image, global const region_t *whole, global const float *mask, global const region_t *part,
                  const float strength) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= part->width || y >= part->height)
        return;
    const int to = (y + part->y - whole->y) * whole->width + x + part->x - whole->x;
    image[to] = image[to] * (1.0f - strength * mask[y * part->width + x]);
}
