/* Four passes over an 8-bit image, with six helpers: grey, grading, a blur of rows, blending two images by a mask.
 *
 * Fixture for: a change in one of ten functions, which some kernels call and others do not. One suite a kernel:
 * suite_<kernel>.toml.
 */

int clamped(int x)
{
    if (x < 0)
        return 0;
    return x > 255 ? 255 : x;
}

int luma(int red, int green, int blue)
{
    return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}

/* gain in 1/64 */
int scaled(int x, int gain)
{
    int product = x * gain;
    return (product + 32) / 64;
}

int column(int x, int width)
{
    if (x < 0)
        return 0;
    return x < width ? x : width - 1;
}

int mean3(int left, int middle, int right)
{
    return (left + 2 * middle + right + 2) / 4;
}

int mixed(int below, int above, int share)
{
    return (below * (255 - share) + above * share + 127) / 255;
}

__kernel void to_grey(__global const uchar *rgb, __global uchar *grey, int n)
{
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    grey[i] = (uchar)luma(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

__kernel void grade(__global const uchar *in, __global uchar *out, int n, int gain, int lift)
{
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = (uchar)clamped(scaled(in[i], gain) + lift);
}

__kernel void blur_rows(__global const uchar *in, __global uchar *out, int width, int height)
{
    int x = (int)get_global_id(0);
    int y = (int)get_global_id(1);
    if (x >= width || y >= height)
        return;
    int row = y * width;
    int left = in[row + column(x - 1, width)];
    int right = in[row + column(x + 1, width)];
    out[row + x] = (uchar)mean3(left, in[row + x], right);
}

__kernel void blend(__global const uchar *below, __global const uchar *above, __global const uchar *mask,
                    __global uchar *out, int n, int opacity)
{
    int i = (int)get_global_id(0);
    if (i >= n)
        return;
    int share = clamped(mask[i] * opacity / 100);
    out[i] = share == 0 ? below[i] : (uchar)mixed(below[i], above[i], share);
}
