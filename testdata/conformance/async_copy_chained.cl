// conformance: out=1024 global=256 local=64
// One event for several copies, passed on from one to the next; a copy by few elements of vectors.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uchar bytes[128];
    __local float4 reals[8];
    __local short3 threes[8];
    size_t g = get_global_id(0), l = get_local_id(0);
    event_t event = async_work_group_copy(bytes, in + 256, 128, 0);
    event = async_work_group_copy(reals, (__global const float4*)(in + 1536), 8, event);
    event = async_work_group_copy(threes, (__global const short3*)(in + 512), 8, event);
    wait_group_events(1, &event);
    ((__global int*)out)[g] = bytes[2 * l] ^ as_int4(reals[l & 7]).y ^ threes[l & 7].z;
}
