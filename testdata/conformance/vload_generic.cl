// conformance: out=4096 global=256 local=64 values=uint options=-cl-std=CL2.0
// vload and vstore through generic pointers, into local, global and private memory.
uint4 twice(uint* from) { vstore2(vload2(1, from) * 2, 1, from); return vload4(0, from); }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uint tile[64 * 4];
    size_t g = get_global_id(0), l = get_local_id(0);
    uint own[4];
    uint4 v = vload4(g & 63, (__global const uint*)(in + 2560));
    vstore4(v, l, tile);
    vstore4(v.wzyx, 0, own);
    vstore4(v, g, (__global uint*)out);
    uint4 r = twice(g & 1 ? (uint*)own : (uint*)(tile + 4 * l)) + twice((__global uint*)out + 4 * g);
    vstore4(r, g, (__global uint*)out);
}
