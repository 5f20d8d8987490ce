/* Adds a scaled cuboid of one volume into another, in the region that the global offset and size choose.
 *
 * Work-items outside the volume's extent do nothing; those on the region's first plane along z can be treated as a seam
 * and are averaged. Fixture for: three dimensions, a global offset, get_global_offset, every id function, size_t arithmetic.
 */

size_t at(size_t x, size_t y, size_t z, uint width, uint height)
{
    return (z * height + y) * width + x;
}

__kernel void sub_matrix_offset(__global const int *in, __global int *out, uint width, uint height, uint depth, int factor,
                                int seam, __global uint *groups)
{
    size_t x = get_global_id(0);
    size_t y = get_global_id(1);
    size_t z = get_global_id(2);

    if (get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0) {
        size_t group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
        groups[group] = get_local_size(0) * get_local_size(1) * get_local_size(2);
    }
    if (x >= width || y >= height || z >= depth)
        return;

    size_t i = at(x, y, z, width, height);
    if (seam && z == get_global_offset(2))
        out[i] = (out[i] + factor * in[i]) / 2;
    else
        out[i] += factor * in[i];
}
