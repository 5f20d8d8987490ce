// conformance: out=4096 global=256 local=64
// An array of two events; double buffering in a loop.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tiles[2][64];
    __local int4 others[16];
    __global const int* from = (__global const int*)(in + 1536);
    size_t g = get_global_id(0), l = get_local_id(0);
    event_t ev[2];
    ev[0] = async_work_group_copy(tiles[0], from, 64, 0);
    ev[1] = async_work_group_copy(others, (__global const int4*)from + 16, 16, 0);
    wait_group_events(2, ev);
    int sum = tiles[0][63 - l] + others[l & 15].z;
    for (int i = 1; i < 4; i++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        ev[i & 1] = async_work_group_copy(tiles[i & 1], from + 64 * i, 64, 0);
        wait_group_events(1, ev + (i & 1));
        sum += tiles[i & 1][l] >> i;
    }
    ((__global int*)out)[g] = sum;
    ((__global int*)out)[256 + g] = sum ^ tiles[0][l];
    ((__global int*)out)[512 + g] = tiles[1][l ^ 1];
    ((__global int*)out)[768 + g] = others[l & 15].w;
}
