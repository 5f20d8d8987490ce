// conformance: out=2048 global=256 local=64 values=uint
// A union of an integer, a float, bytes and a vector.
union Bits { uint number; float real; uchar bytes[4]; uchar4 vector; };

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    union Bits u;
    u.real = (float)((__global const short*)(in + 512))[g];
    uint first = u.number ^ u.bytes[3];
    u.bytes[g & 3] ^= 0x40;
    u.vector = u.vector.wzyx + (uchar4)1;
    ((__global uint*)out)[g] = first;
    ((__global uint*)out)[256 + g] = u.number;
}
