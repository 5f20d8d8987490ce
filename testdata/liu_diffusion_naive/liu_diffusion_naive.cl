// One explicit step of diffusion on a grid; its border stays as it is.
//
// Fixture: LIU's "Diffusion (naive)" (tables 7.3 to 7.8): a guard of four comparisons around one long expression.

__kernel void liu_diffusion_naive(__global float *next, __global const float *now, const int nx, const int ny,
                                  const float rate)
{
    int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        next[y * nx + x] = now[y * nx + x] + rate * (now[(y + 1) * nx + x] + now[(y - 1) * nx + x] + now[y * nx + x + 1]
                                                     + now[y * nx + x - 1] - 4.0f * now[y * nx + x]);
    }
}
