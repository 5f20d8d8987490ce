// conformance: out=3072 global=256 local=64
// Booleans in private and local arrays, in a struct, and passed by address.
struct Flags { bool set; uchar between; bool other; int number; };

void invert(bool* flag) { *flag = !*flag; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __global const int* ints = (__global const int*)(in + 1536);
    __global int* to = (__global int*)out;
    size_t g = get_global_id(0), l = get_local_id(0);
    __local bool seen[64];
    bool own[4];
    seen[l] = (ints[g] & 4) != 0;
    for (int i = 0; i < 4; i++)
        own[i] = ints[g] >> i & 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    struct Flags flags = { ints[g] > 0, 77, ints[g] < 100, 5 };
    invert(&flags.other);
    invert(&own[ints[g] & 3]);
    bool any = false;
    for (int i = 0; i < 64; i++)
        any ^= seen[i];
    to[g] = flags.set * 1000 + flags.other * 100 + flags.between + flags.number;
    to[256 + g] = own[0] | own[1] << 1 | own[2] << 2 | own[3] << 3 | any << 4 | seen[63 - l] << 5;
    *(__global uchar*)(to + 512 + g) = *(uchar*)&own[1];
}
