// conformance: out=4096 global=256 local=64 values=uint
// Components written through pointers to vectors in global, local and private memory.
void scale(uint4* v) { v->yw = v->xz * 3; v->x += 1; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0), l = get_local_id(0);
    __local uint4 tile[64];
    __global uint4* to = (__global uint4*)out;
    uint4 own = ((__global const uint4*)(in + 2560))[g & 63];
    scale(&own);
    tile[l].xz = own.yw;
    tile[l].yw = own.xz;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[g].lo = tile[63 - l].hi;
    to[g].w = tile[l ^ 1].x;
    to[g].z = own.s2;
}
