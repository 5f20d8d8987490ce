// conformance: out=256 global=16x16 local=8x8 values=uchar
// A median of 3x3 bytes with a halo in local memory, clamped at the borders.
#define ORDER(a, b) { uchar low = min(a, b); b = max(a, b); a = low; }

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    __local uchar tile[10 * 10];
    int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1);
    for (int at = j * 8 + i; at < 100; at += 64) {
        int fx = clamp(x - i + at % 10 - 1, 0, 15), fy = clamp(y - j + at / 10 - 1, 0, 15);
        tile[at] = (in + 256)[16 * fy + fx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar v[9];
    for (int k = 0; k < 9; k++)
        v[k] = tile[(j + k / 3) * 10 + i + k % 3];
    for (int round = 0; round < 9; round++)
        for (int k = round & 1; k + 1 < 9; k += 2)
            ORDER(v[k], v[k + 1])
    out[16 * y + x] = v[4];
}
