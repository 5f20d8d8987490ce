// y = a * x + y, the index put together from group and place in the group.
//
// Fixture: LIU's "saxpy" (tables 7.3 to 7.8); as in CUDA the index is a sum of three parts, so each of them has mutants.

__kernel void liu_saxpy(const int n, const float a, __global const float *x, __global float *y)
{
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
