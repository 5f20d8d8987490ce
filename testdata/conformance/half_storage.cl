// conformance: out=2048 global=256 local=64 values=uint
// half as a type of memory alone (OpenCL C without fp16): vload_half, vstore_half with all roundings.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global half* to = (__global half*)out;
    float f = ((__global const short*)(in + 512))[g] * 0.3125f + 0.0078125f;
    vstore_half(f, g, to);
    vstore_half_rtz(f, 256 + g, to);
    vstore_half_rtp(f, 512 + g, to);
    vstore_half_rtn(-f, 768 + g, to);
}
