// conformance: out=4096 global=256 local=64
// Strided asynchronous copies: gathered into local memory, scattered from it.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    size_t l = get_local_id(0);
    event_t event = async_work_group_strided_copy(tile, (__global const int*)(in + 1536) + get_group_id(0), 64, 4, 0);
    wait_group_events(1, &event);
    tile[l] += (int)l;
    barrier(CLK_LOCAL_MEM_FENCE);
    event = async_work_group_strided_copy((__global int*)out + get_group_id(0), tile, 64, 4, 0);
    wait_group_events(1, &event);
}
