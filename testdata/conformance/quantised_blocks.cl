// conformance: out=8192 global=256 local=64 values=float
// Blocks of quantised weights: half scale, nibbles, in packed structs, dequantised exactly.
typedef struct { ushort scale; uchar quants[16]; } Block;

__kernel void calls(__global uchar* out, __global const uchar* in)
{
    size_t g = get_global_id(0);
    __global const Block* block = (__global const Block*)(in + 256) + (g & 7);
    float scale = vload_half(g & 3, (__global const half*)(in + 512 + 2 * (g & 1))) ;
    scale = (float)((block->scale & 15) + 1) * 0.25f + (isnan(scale) ? 0.0f : 1.0f);
    uchar16 q = vload16(0, block->quants);
    char16 low = as_char16(q & (uchar16)15) - (char16)8, high = as_char16(q >> (uchar16)4) - (char16)8;
    float8 r = convert_float8(low.lo) * scale + convert_float8(high.hi) * (scale * 2.0f);
    vstore8(r, g, (__global float*)out);
}
