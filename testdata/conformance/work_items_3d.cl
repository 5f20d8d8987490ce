// conformance: out=16384 global=8x8x8 local=4x2x2 values=uint
// Numbers of work-items in three dimensions, and of dimensions that do not exist.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    uint at = (z * get_global_size(1) + y) * get_global_size(0) + x;
    uint ids = get_local_id(0) | get_local_id(1) << 4 | get_local_id(2) << 8 | get_group_id(0) << 12 | get_group_id(1) << 16 | get_group_id(2) << 20;
    uint sizes = get_local_size(0) + get_local_size(1) * 10 + get_local_size(2) * 100 + get_num_groups(0) * 1000 + get_num_groups(2) * 10000;
    sizes += get_global_offset(1) + get_work_dim() * 100000;
    uint none = get_global_id(3) + get_local_size(5) * 3 + get_global_size(4) * 5 + get_num_groups(3) * 7 + get_group_id(9);
    __global uint* to = (__global uint*)out;
    to[8 * at] = ids;
    to[8 * at + 1] = sizes;
    to[8 * at + 2] = none;
    to[8 * at + 3] = get_global_size(2) * 100 + get_num_groups(1);
    for (uint d = 0; d < 3; d++)
        to[8 * at + 4 + d] = get_global_id(d) * 100 + get_local_id(d);
}
