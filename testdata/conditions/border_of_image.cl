// Pixels at the border are left out; the others look one row up and one column to the left.
// expect: conditional `border >= 1`
kernel void edges(global float *out, global const float *in, const int width, const int height, const int border) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < border || y < border || x >= width || y >= height)
        return;
    out[y * width + x] = in[y * width + x] - 0.5f * (in[(y - 1) * width + x] + in[y * width + x - 1]);
}
