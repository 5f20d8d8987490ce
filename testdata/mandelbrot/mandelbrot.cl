/* Escape-time picture of the Mandelbrot set.
 *
 * Iterates z = z*z + c until |z| leaves the circle of radius 2, the limit is reached or z returns to a value seen before
 * (then the point is in the set). Points of the two large bulbs may be skipped. Fixture for: a while with &&, a break that
 * keeps the loop's condition from becoming false, || in an if, a ternary, floats whose expected values are exact.
 */

__kernel void mandelbrot(__global int *iterations, int width, int height, float x0, float y0, float step, int limit,
                         int skip_bulbs)
{
    int px = get_global_id(0);
    int py = get_global_id(1);
    if (px >= width || py >= height)
        return;

    float cx = x0 + px * step;
    float cy = y0 + py * step;
    int n = 0;
    float x = 0.0f;
    float y = 0.0f;

    if (skip_bulbs) {
        float q = (cx - 0.25f) * (cx - 0.25f) + cy * cy;
        if (q * (q + (cx - 0.25f)) < 0.25f * cy * cy || (cx + 1.0f) * (cx + 1.0f) + cy * cy < 0.0625f)
            n = limit;
    }

    float old_x = 4.0f;
    float old_y = 4.0f;
    while (n < limit && x * x + y * y <= 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        n++;
        if (x == old_x && y == old_y) {
            n = limit;
            break;
        }
        if (n % 4 == 0) {
            old_x = x;
            old_y = y;
        }
    }
    iterations[py * width + px] = n < limit ? n : -1;
}
