// conformance: out=1024 global=256 local=64
// Variables that shadow others, lifetimes in loops, declarations in for and if, local memory in two blocks.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int first[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    int x = (int)g, r = 0;
    {
        int x = 5;
        for (int x = 0; x < 3; x++) {
            int y = x * 2;
            { int x = y; r += x; }
            y++;
            r ^= y;
        }
        r += x;
    }
    if (x & 1) { int r = 7; x += r; }
    first[l] = r + x;
    __local int second[64];
    second[63 - l] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global int*)out)[g] = first[l] * 3 + second[l] + first[63 - l];
}
