// conformance: out=4096 global=256 local=64 values=uint
// Packed and aligned structs: fields that are not aligned, arrays of them in global memory.
typedef struct __attribute__((packed)) { uchar kind; uint number; ushort count; } Record;
typedef struct { uchar a; } __attribute__((aligned(16))) Apart;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const Record* from = (__global const Record*)in;
    Record own = from[g];
    own.number ^= own.kind * 0x01010101u;
    Record list[2] = { own, from[g + 1] };
    Apart apart[2] = { { 1 }, { (uchar)g } };
    __global uint* to = (__global uint*)out + 4 * g;
    to[0] = list[g & 1].number;
    to[1] = list[0].count + list[1].kind * 65536;
    to[2] = sizeof(Record) * 1000 + sizeof(Apart) * 10 + apart[g & 1].a;
    to[3] = (uint)((size_t)&apart[1] - (size_t)&apart[0]);
}
