// c = a + b, the index put together from group and place in the group.
//
// Fixture: LIU's "VectorAddTemplate" (tables 7.3 to 7.8).

__kernel void liu_vector_add(__global float *c, __global const float *a, __global const float *b, const int n)
{
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}
