// conformance: out=8192 global=256 local=64
// Conversions between floats and integers with rounding and saturation; the values lie between two numbers.
__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    float f = ((__global const short*)(in + 512))[g] * 0.25f;
    int i = ((__global const int*)(in + 1536))[g];
    __global int* to = (__global int*)out;
    to[g] = convert_int(f) + convert_int_rte(f) * 3 + convert_int_rtp(f) * 5 + convert_int_rtn(f) * 7;
    to[256 + g] = convert_uchar_sat(f) + convert_char_sat_rte(f) * 256;
    to[512 + g] = convert_ushort_sat_rtz(f) ^ convert_short_sat_rtp(f * 4.0f);
    to[768 + g] = as_int(convert_float(i)) ^ as_int(convert_float_rtz(i));
    to[1024 + g] = as_int(convert_float_rtp(i)) + as_int(convert_float_rtn((uint)i));
    to[1280 + g] = as_int(convert_float(f));
    to[1536 + g] = convert_int4(convert_float4((int4)(i, i + 1u, 5, -5) / 256)).x;
    to[1792 + g] = convert_uint_sat(f) + convert_uint4_sat_rte((float4)(f, -f, 1e20f, -1e20f)).z;
}
