// conformance: out=1024 global=256 local=64
// Barriers in loops and branches that all work-items of a group take alike, with divergent code around them.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    size_t g = get_global_id(0), l = get_local_id(0), group = get_group_id(0);
    tile[l] = (in + 256)[g];
    for (uint i = 0; i < 2 + group; i++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int other = tile[(l + i) & 63];
        if (l & 1) other *= 3; else if (l > 40) other -= 7;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] = other & 0xFFFF;
        if (group == 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            other = tile[63 - l];
            barrier(CLK_LOCAL_MEM_FENCE);
            tile[l] += other;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global int*)out)[g] = tile[l] + tile[0];
}
