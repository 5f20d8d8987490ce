// conformance: out=8192 global=256 local=64 values=uchar
// vload and vstore at addresses that only an element's alignment has, of three, in all address spaces.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local ushort tile[3 * 64 + 1];
    size_t g = get_global_id(0), l = get_local_id(0);
    uchar own[17];
    uchar3 three = vload3(g & 63, in + 257);
    ushort3 wide = vload3(g & 63, (__global const ushort*)(in + 1026));
    vstore3(wide, l, tile + 1);
    vstore8(vload8(g & 15, in + 259), 0, own + 1);
    vstore8((uchar8)(three, three.zyx, 1, 2), 1, own + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    vstore3(as_uchar8((ushort4)(vload3(63 - l, tile + 1), 0)).s024, g, out + 1);
    vstore16(vload16(0, own + 1), g, out + 1025);
}
