// conformance: out=2048 global=256 local=64
// Several local arrays of different types, one of arrays, in a loop with barriers: a transposition.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[8][9];
    __local uchar marks[64];
    __local long total;
    size_t g = get_global_id(0), l = get_local_id(0);
    size_t x = l & 7, y = l >> 3;
    int sum = 0;
    if (l == 0) total = 0;
    for (int pass = 0; pass < 3; pass++) {
        tile[y][x] = ((__global const short*)(in + 512))[(g + pass * 64) & 255];
        marks[l] = (in + 256)[(g + pass) & 255];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += tile[x][y] + marks[63 - l];
        if (l == 5) total += tile[7][7];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    ((__global int*)out)[g] = sum;
    ((__global int*)out)[256 + g] = (int)total;
}
