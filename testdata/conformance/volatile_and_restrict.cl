// conformance: out=2048 global=256 local=64
// volatile variables in all address spaces keep each access; restrict pointers.
void add(__global int* restrict to, __global const int* restrict from, int n) { to[0] = from[n] + to[0]; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local volatile int tile[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    volatile int own = (int)g;
    volatile __global int* to = (volatile __global int*)out;
    own = own * own + own;
    tile[l] = own;
    tile[l] += tile[l] & 15;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[g] = tile[63 - l];
    to[g] -= 5;
    to[256 + g] = to[g]++ * 2;
    add((__global int*)out + g, (__global const int*)(in + 512), (int)(g & 15));
}
