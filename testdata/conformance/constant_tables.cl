// conformance: out=2048 global=256 local=64 values=uint
// Program-scope constants of all kinds: arrays, structs with arrays, vectors, strings, pointers into others.
typedef struct { uchar name[4]; int codes[3]; float2 pair; } Row;
constant Row rows[2] = { { "abc", { 1, -2, 3 }, (float2)(0.5f, 2.0f) }, { { 'x', 'y' }, { 40, 50 }, (float2)(4.0f) } };
constant uint primes[] = { 2, 3, 5, 7, 11, 13, 17, 19 };
constant ulong wide = 0x123456789ABCDEFUL;
constant char text[] = "kernel";
constant short3 threes[2] = { (short3)(1, 2, 3), (short3)(-4, -5, -6) };

uint looked(constant uint* from, uint n) { return from[n & 7]; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    constant Row* row = &rows[g & 1];
    uint r = row->name[g & 3] + row->codes[g % 3] * 256 + (uint)(row->pair.y * 4096.0f);
    r ^= looked(primes, g) << 20 ^ looked(primes + (g & 3), 2);
    ((__global uint*)out)[g] = r + (uint)(wide >> (g & 31)) + text[g % 7] + sizeof(text);
    ((__global uint*)out)[256 + g] = (uint)(threes[g & 1].z * threes[g >> 1 & 1].x) + sizeof(rows);
}
