// conformance: out=65536 global=64 local=32 values=long options=-cl-std=CL3.0
// Work-items exchange values of all widths.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global long* to = (__global long*)out + g * 64;
    __global const long* from = (__global const long*)in + g % 8 * 16;
    vstore2(sub_group_broadcast(vload2(0, from), 1), 0, to);
    vstore3(sub_group_broadcast(vload3(1, from), 2), 1, to);
    vstore4(sub_group_broadcast(vload4(1, from), 3), 2, to);
    vstore8(sub_group_broadcast(vload8(1, from), 0), 2, to);
    vstore16(sub_group_broadcast(vload16(0, from), 1), 2, to);
    to[48] = sub_group_broadcast(from[5], 2);
    to[49] = sub_group_broadcast((int)from[6], 3);
    to[50] = sub_group_broadcast(as_ushort8(vload2(2, from)), 1).s7;
    to[51] = as_long(sub_group_broadcast(as_uchar8(from[4]), 2));
}
