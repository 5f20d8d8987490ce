// conformance: out=1024 global=256 local=64 values=uint
// A stable pass of a radix sort: flags, scan, scatter in local memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uint keys[64], scan[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    uint key = ((__global const uint*)(in + 2560))[g];
    for (uint bit = 0; bit < 8; bit++) {
        uint one = key >> (bit * 3) & 1;
        scan[l] = !one;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = 1; step < 64; step <<= 1) {
            uint add = l >= step ? scan[l - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            scan[l] += add;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        uint zeros = scan[63], to = one ? zeros + (uint)l - scan[l] : scan[l] - 1;
        keys[to] = key;
        barrier(CLK_LOCAL_MEM_FENCE);
        key = keys[l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    ((__global uint*)out)[g] = key;
}
