/* From coordinates to texels: addressing and filter modes (OpenCL C 3.0, 8.2), one dimension at a time, as in
 * `exec::simulator::image::address`. Images have fewer than 2^31 texels in a dimension. */

#include "host.h"

/* `lower::image_buffers`: what a buffer begins with, and where its texels begin. */
struct kassay_image {
    /* In texels, by dimension; layers are one more dimension after those of a layer. */
    uint extents[3];
    uint dimensions;
    uint is_layered;
    /* As OpenCL numbers them. */
    uint order;
    uint type;
    /* The size of a texel. */
    uint bytes;
};
#define TEXELS 64

/* The bits of a sampler (opencl-c-base.h); none has the meaning of 0. */
#define ADDRESSING 0xE

/* Indices that are no texels: outside, where the border is read, and outside, where the result is undefined. */
#define BORDER -1
#define OUTSIDE -2

/* Attributes of functions that are too large to be inlined wherever they are called. */
#define PART __attribute__((noinline))

float BUILTIN floor(float x);
float BUILTIN rint(float x);

INNER int bits_of(float x) { return __builtin_astype(x, int); }
INNER int4 bits_of(float4 x) { return __builtin_astype(x, int4); }
INNER float float_of(int bits) { return __builtin_astype(bits, float); }
INNER float4 floats_of(int4 bits) { return __builtin_astype(bits, float4); }

/* Conversions to integers saturate and make 0 of what is no number. */
INNER int whole(float x) {
    return x != x ? 0 : x >= 2147483648.0f ? 0x7fffffff : x < -2147483648.0f ? (int)0x80000000 : (int)x;
}
INNER uint natural(float x) { return !(x > 0.0f) ? 0 : x >= 4294967296.0f ? 0xffffffff : (uint)x; }
INNER int4 whole4(float4 x) { return (int4)(whole(x.s0), whole(x.s1), whole(x.s2), whole(x.s3)); }
INNER int4 natural4(float4 x) { return (int4)((int)natural(x.s0), (int)natural(x.s1), (int)natural(x.s2), (int)natural(x.s3)); }

INNER int checked(int at, uint size) { return (uint)at < size ? at : OUTSIDE; }
INNER int bordered(int at, uint size) { return (uint)at < size ? at : BORDER; }
INNER int clamped(int at, uint size) { return at < 0 ? 0 : (uint)at < size ? at : (int)size - 1; }

INNER long remainder_of(long at, long size) {
    long rest = at % size;
    return rest < 0 ? rest + size : rest;
}

/* The texel of an integer coordinate. */
INNER int integer(uint mode, int at, uint size) {
    switch (mode & ADDRESSING) {
    case CLK_ADDRESS_NONE:
        return checked(at, size);
    case CLK_ADDRESS_CLAMP_TO_EDGE:
        return clamped(at, size);
    case CLK_ADDRESS_CLAMP:
        return bordered(at, size);
    case CLK_ADDRESS_REPEAT:
        return (int)remainder_of(at, size);
    default: {
        long round = remainder_of(at, 2 * (long)size);
        return (int)(round < (long)size ? round : 2 * (long)size - 1 - round);
    }
    }
}

/* A coordinate in texels. */
INNER float in_texels(uint mode, float coordinate, uint size) {
    float length = (float)size;
    float s = mode & CLK_NORMALIZED_COORDS_TRUE ? coordinate : coordinate / length;
    switch (mode & ADDRESSING) {
    case CLK_ADDRESS_REPEAT:
        return (s - floor(s)) * length;
    case CLK_ADDRESS_MIRRORED_REPEAT: {
        float t = s - 2.0f * rint(0.5f * s);
        return (t < 0.0f ? -t : t) * length;
    }
    default:
        return mode & CLK_NORMALIZED_COORDS_TRUE ? coordinate * length : coordinate;
    }
}

/* The texel that CLK_FILTER_NEAREST selects. */
INNER int nearest(uint mode, float coordinate, uint size) {
    int at = whole(floor(in_texels(mode, coordinate, size)));
    switch (mode & ADDRESSING) {
    case CLK_ADDRESS_REPEAT:
        return clamped(at > (int)size - 1 ? at - (int)size : at, size);
    case CLK_ADDRESS_MIRRORED_REPEAT:
        return clamped(at, size);
    default:
        return integer(mode, at, size);
    }
}

PART int kassay_place(uint mode, bool floats, int at, uint size) {
    return floats ? nearest(mode, float_of(at), size) : integer(mode, at, size);
}

/* Two neighbouring texels and the weight of the second one. */
struct pair {
    int2 texels;
    float weight;
};

/* The texels that CLK_FILTER_LINEAR interpolates. */
PART struct pair kassay_linear(uint mode, float coordinate, uint size) {
    float u = in_texels(mode, coordinate, size);
    float lower = floor(u - 0.5f);
    float weight = (u - 0.5f) - lower;
    int first = whole(lower);
    int second = first == 0x7fffffff ? first : first + 1;
    struct pair found;
    /* Else it is no number. */
    found.weight = weight >= 0.0f ? weight : 0.0f;
    switch (mode & ADDRESSING) {
    case CLK_ADDRESS_NONE:
        /* Inside the image, one of the two texels may lie outside all the same: that one is the border. */
        found.texels = checked(whole(floor(u)), size) == OUTSIDE ? (int2)(OUTSIDE)
                                                                 : (int2)(bordered(first, size), bordered(second, size));
        break;
    case CLK_ADDRESS_CLAMP:
        found.texels = (int2)(bordered(first, size), bordered(second, size));
        break;
    case CLK_ADDRESS_REPEAT:
        found.texels = (int2)((int)remainder_of(first, size), (int)remainder_of(second, size));
        break;
    default:
        found.texels = (int2)(clamped(first, size), clamped(second, size));
        break;
    }
    return found;
}

/* The layer of an array (8.4) for a float coordinate. */
INNER int layer(float coordinate, uint layers) {
    float rounded = rint(coordinate);
    return rounded > 0.0f ? clamped(whole(rounded), layers) : 0;
}
