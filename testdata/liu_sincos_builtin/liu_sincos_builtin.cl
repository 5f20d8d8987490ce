// Per work-group the sum of sin(x) * cos(x) over its part of x, a whole number of parts a work-item, by a builtin reduction.
//
// Fixture: LIU's "Sincos (cub)" (tables 7.3 to 7.8): a strided loop of accumulation, then a library's reduction.

__kernel void liu_sincos_builtin(__global const float *x, __global float *sums, const int n)
{
    float sum = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += sin(x[i]) * cos(x[i]);
    float all = work_group_reduce_add(sum);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = all;
}
