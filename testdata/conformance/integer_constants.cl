// conformance: out=4096 global=256 local=64 values=ulong
// Types of literals: hexadecimal, octal, suffixes, characters, enumerations.
enum Shade { DARK = -3, DIM, BRIGHT = 0x7FFFFFFF };
#define LIMIT 0xFFFFFFFF

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global ulong* to = (__global ulong*)out;
    enum Shade shade = g & 1 ? DIM : BRIGHT;
    to[g] = LIMIT + g + (LIMIT + 1 == 0) + 0xFFFFFFFFFF + 017 + 'a' + '\x7f' + 4294967296;
    to[256 + g] = (ulong)((long)shade + DARK) ^ (1UL << 63) ^ (ulong)(-1 > 0u) ^ (ulong)-2147483648;
}
