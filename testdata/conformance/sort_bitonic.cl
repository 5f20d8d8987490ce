// conformance: out=1024 global=256 local=64
// A bitonic sort in local memory.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int keys[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    keys[l] = ((__global const int*)(in + 1536))[g];
    for (uint size = 2; size <= 64; size <<= 1)
        for (uint step = size >> 1; step > 0; step >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = l ^ step;
            if (other > l && keys[l] > keys[other] == ((l & size) == 0)) {
                int kept = keys[l];
                keys[l] = keys[other];
                keys[other] = kept;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__global int*)out)[g] = keys[l];
}
