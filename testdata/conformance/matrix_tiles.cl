// conformance: out=1024 global=16x16 local=8x8
// A product of matrices of integers by tiles in local memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local short a[8][8], b[8][9];
    __global const char* from = (__global const char*)in;
    size_t x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1);
    int sum = 0;
    for (size_t tile = 0; tile < 2; tile++) {
        a[j][i] = from[16 * y + 8 * tile + i];
        b[j][i] = from[16 * (8 * tile + j) + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++)
            sum += a[j][k] * b[k][i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    ((__global int*)out)[16 * y + x] = sum;
}
