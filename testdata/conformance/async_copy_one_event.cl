// conformance: out=4096 global=256 local=64
// An asynchronous copy to local memory and back, each awaited by one event.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[256];
    __global const int* from = (__global const int*)(in + 1536);
    size_t l = get_local_id(0);
    event_t event = async_work_group_copy(tile, from + 4 * (get_group_id(0) & 1), 200, 0);
    wait_group_events(1, &event);
    for (size_t i = l; i < 256; i += 64)
        tile[i] = i < 200 ? tile[i] ^ (int)i : -1;
    barrier(CLK_LOCAL_MEM_FENCE);
    event = async_work_group_copy((__global int*)out + 256 * get_group_id(0), tile, 256, 0);
    wait_group_events(1, &event);
}
