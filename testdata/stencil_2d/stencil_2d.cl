// One step of a five-point heat exchange on a grid, three ways to treat the border: kept fixed, wrapped around, or
// without flow across it.
//
// Fixture: border tests with && and || of two and four operands, an else-if chain, ternaries for neighbours, a
// two-dimensional launch with overhang.

#define FIXED 0
#define WRAPPED 1

__kernel void stencil_2d(__global const float *in, __global float *out, const int width, const int height,
                         const int border)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x >= width || y >= height)
        return;

    const int at = y * width + x;
    const float here = in[at];
    float left, right, up, down;

    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        left = in[at - 1];
        right = in[at + 1];
        up = in[at - width];
        down = in[at + width];
    } else if (border == FIXED) {
        out[at] = here;
        return;
    } else if (border == WRAPPED) {
        left = in[y * width + (x + width - 1) % width];
        right = in[y * width + (x + 1) % width];
        up = in[(y + height - 1) % height * width + x];
        down = in[(y + 1) % height * width + x];
    } else {
        left = x > 0 ? in[at - 1] : here;
        right = x < width - 1 ? in[at + 1] : here;
        up = y > 0 ? in[at - width] : here;
        down = y < height - 1 ? in[at + width] : here;
    }

    out[at] = here + 0.125f * (left + right + up + down - 4.0f * here);
}
