// conformance: out=1024 global=256 local=64 reference=simulator
// An index of a row that is a work-item's number, shifted and narrowed to int. Intel's runtime of 2026.2 accesses other memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[8][9];
    size_t g = get_global_id(0), l = get_local_id(0);
    int x = l & 7, y = l >> 3;
    tile[y][x] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global int*)out)[g] = tile[x][y];
}
