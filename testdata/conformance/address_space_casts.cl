// conformance: out=2048 global=256 local=64
// Pointers cast to other element types in their own address space: char into vectors, structs over arrays.
typedef struct { ushort a; uchar b[2]; } Over;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uint raw[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    raw[l] = ((__global const uint*)(in + 2560))[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    __local Over* over = (__local Over*)raw;
    __local uchar4* quads = (__local uchar4*)raw;
    int r = over[l ^ 1].a + over[l ^ 1].b[1] * 65536;
    uint own = 0;
    ((uchar*)&own)[g & 3] = quads[l].y;
    ((ushort2*)&own)->y += 3;
    ((__global int*)out)[g] = r;
    ((__global uint*)out)[256 + g] = own + ((__local ushort*)raw)[2 * l + 1];
}
