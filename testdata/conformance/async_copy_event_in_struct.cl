// conformance: out=1024 global=256 local=64
// An event that a function takes and waits for through a pointer.
void finish(event_t* event) { wait_group_events(1, event); }

event_t begin(__local int* to, __global const int* from, int n) { return async_work_group_copy(to, from, n, 0); }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    event_t event = begin(tile, (__global const int*)(in + 1536) + 64 * get_group_id(0), 64);
    finish(&event);
    ((__global int*)out)[get_global_id(0)] = tile[63 - get_local_id(0)];
}
