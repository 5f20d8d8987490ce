// conformance: out=2048 global=256 local=64 options=-cl-std=CL2.0
// to_global, to_local and to_private say where a generic pointer leads; get_fence which fence it needs.
int place(int* p) { return (to_global(p) != 0) | (to_local(p) != 0) << 1 | (to_private(p) != 0) << 2; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local int tile[64];
    size_t g = get_global_id(0), l = get_local_id(0);
    int own = 3;
    __global int* to = (__global int*)out + g;
    tile[l] = 7;
    *to = 0;
    int* p = g % 3 == 0 ? (int*)to : g % 3 == 1 ? (int*)&tile[l] : &own;
    int r = place(p) * 10;
    *p += 5;
    if (to_local(p)) r += *to_local(p);
    if (to_private(p)) r += *to_private(p) * 2;
    if (to_global(p)) r += *to_global(p) * 3;
    ((__global int*)out)[256 + g] = r * 10 + (get_fence(p) == CLK_GLOBAL_MEM_FENCE) + (get_fence(p) == CLK_LOCAL_MEM_FENCE) * 2;
    *to = own + tile[l];
}
