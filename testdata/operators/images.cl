// Copies a picture whose rows are all the same.
//
// Fixture: ICR, an example that is killed and one that survives.

__kernel void images(__read_only image2d_t from, __global uint *to, sampler_t smp)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    to[y * get_global_size(0) + x] = read_imageui(from, smp, (int2)(x, y)).x;
}
