// conformance: out=1024 global=256 local=64 tile=local:512 shift=3 factor=0.5
// A local argument and numbers by value: a reduction.
__kernel void calls(__global uchar* out, __global const uchar* in, __local int* tile, int shift, float factor)
{
    size_t g = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    tile[l] = ((__global const short*)(in + 512))[g] << shift;
    tile[n + l] = 1;
    for (size_t step = n / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step) {
            tile[l] += tile[l + step];
            tile[n + l] += tile[n + l + step];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global int*)out)[g] = tile[0] + tile[n] + (int)(factor * (float)l);
}
