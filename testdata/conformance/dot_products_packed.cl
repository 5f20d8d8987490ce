// conformance: out=6144 global=256 local=64 options=-cl-std=CL3.0
// Products of four bytes that are packed into 32 bits, and of vectors of bytes.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const uint* from = (__global const uint*)(in + 2560);
    uint a = from[g], b = from[255 - g];
    __global int* to = (__global int*)out;
    to[g] = dot_4x8packed_uu_uint(a, b) + dot_4x8packed_ss_int(a, b) * 3;
    to[256 + g] = dot_4x8packed_us_int(a, b) + dot_4x8packed_su_int(a, b) * 3;
    to[512 + g] = dot_acc_sat_4x8packed_uu_uint(a, b, 0xFFFFFFFFu - (a >> 8));
    to[768 + g] = dot_acc_sat_4x8packed_ss_int(a, b, 0x7FFFFFFF) ^ dot_acc_sat_4x8packed_us_int(a, b, -0x7FFFFFFF);
    to[1024 + g] = dot(as_uchar4(a), as_uchar4(b)) + dot(as_char4(a), as_char4(b)) * 3;
    to[1280 + g] = dot_acc_sat(as_char4(a), as_uchar4(b), (int)b) ^ dot(as_char4(a), as_uchar4(b));
}
