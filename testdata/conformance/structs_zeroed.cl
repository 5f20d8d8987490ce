// conformance: out=4096 global=256 local=64 values=uint
// Zeroed arrays and structs, partly initialised, copied whole, in a loop.
typedef struct { uint a[6]; uchar b; ulong c; } State;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    uint r = 0;
    for (uint i = 0; i < 3; i++) {
        State s = { 0 }, t = { .b = 7 };
        ushort counts[20] = { 0 };
        s.a[(g + i) % 6] = in[256 + g];
        counts[s.a[i]  % 20]++;
        t.c = s.a[2] + s.b;
        s = t;
        s.a[1]++;
        r = r * 5 + s.b + (uint)s.c + s.a[1] + counts[0] + counts[g % 20];
    }
    uint4 zero = (uint4)(0);
    vstore4(zero + r, g, (__global uint*)out);
}
