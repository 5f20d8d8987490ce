/* Texels in memory and the colours that they are: channel orders (OpenCL C 3.0, 6.15.15.7) and the conversions of 8.3, as in
 * `exec::simulator::image::texel`. A colour is four integers, or the bits of four floats. */

#include "host.h"

float BUILTIN powr(float x, float y);
float BUILTIN vload_half(size_t offset, __global const half *from);
void BUILTIN vstore_half_rte(float x, size_t offset, __global half *to);

INNER bool is_integer(uint type) { return type >= CLK_SIGNED_INT8 && type <= CLK_UNSIGNED_INT32; }

INNER bool is_signed(uint type) { return type <= CLK_SIGNED_INT32; }

/* Whether alpha is 1 instead of 0 outside the image (6.15.15.2). */
INNER bool has_opaque_border(uint order) {
    return order == CLK_R || order == CLK_RG || order == CLK_RGB || order == CLK_LUMINANCE;
}

/* The components of an integer format, as floats. */
INNER float4 converted(uint type, int4 colour) {
    return is_signed(type) ? __builtin_convertvector(colour, float4)
                           : __builtin_convertvector(__builtin_astype(colour, uint4), float4);
}

/* The number of channels in memory. */
INNER uint channels(uint order) {
    switch (order) {
    case CLK_RG:
    case CLK_RA:
    case CLK_Rx:
        return 2;
    case CLK_RGB:
    case CLK_RGx:
        return 3;
    case CLK_RGBA:
    case CLK_BGRA:
    case CLK_ARGB:
    case CLK_RGBx:
    case CLK_sRGBA:
        return 4;
    default:
        return 1;
    }
}

/* A channel of a packed texel: by how many bits it is shifted, and its greatest value. Red is in the highest bits. */
struct packing {
    uint shift, most;
};

INNER struct packing packed(uint type, uint index) {
    uint wide = type == CLK_UNORM_INT_101010 ? 10 : 5;
    /* Green of 565 has one more bit. */
    bool green = type == CLK_UNORM_SHORT_565 && index == 1;
    bool red = type == CLK_UNORM_SHORT_565 && index == 0;
    struct packing of = {index > 2 ? 0 : wide * (2 - index) + (red ? 1 : 0), (1u << (green ? 6 : wide)) - 1};
    return of;
}

INNER bool is_packed(uint type) { return type >= CLK_UNORM_SHORT_565 && type <= CLK_UNORM_INT_101010; }

INNER float at_least_minus_one(float x) { return x < -1.0f ? -1.0f : x; }

INNER int channel_of(uint type, __global const uchar *texel, uint index) {
    switch (type) {
    case CLK_SNORM_INT8:
        return bits_of(at_least_minus_one((float)((__global const char *)texel)[index] / 127.0f));
    case CLK_SNORM_INT16:
        return bits_of(at_least_minus_one((float)((__global const short *)texel)[index] / 32767.0f));
    case CLK_UNORM_INT8:
        return bits_of((float)texel[index] / 255.0f);
    case CLK_UNORM_INT16:
        return bits_of((float)((__global const ushort *)texel)[index] / 65535.0f);
    case CLK_UNORM_SHORT_565:
    case CLK_UNORM_SHORT_555:
    case CLK_UNORM_INT_101010: {
        struct packing of = packed(type, index);
        uint all = type == CLK_UNORM_INT_101010 ? *(__global const uint *)texel : *(__global const ushort *)texel;
        return bits_of((float)(all >> of.shift & of.most) / (float)of.most);
    }
    case CLK_SIGNED_INT8:
        return ((__global const char *)texel)[index];
    case CLK_SIGNED_INT16:
        return ((__global const short *)texel)[index];
    case CLK_UNSIGNED_INT8:
        return texel[index];
    case CLK_UNSIGNED_INT16:
        return ((__global const ushort *)texel)[index];
    case CLK_HALF_FLOAT:
        return bits_of(vload_half(index, (__global const half *)texel));
    default:
        return ((__global const int *)texel)[index];
    }
}

/* From sRGB to linear, or back. */
PART float kassay_srgb(float c, bool back) {
    float within = !back ? c : !(c > 0.0f) ? 0.0f : c > 1.0f ? 1.0f : c;
    if (back ? within < 0.0031308f : within <= 0.04045f) {
        return back ? 12.92f * within : within / 12.92f;
    }
    float power = powr(back ? within : (within + 0.055f) / 1.055f, back ? 1.0f / 2.4f : 2.4f);
    return back ? 1.055f * power - 0.055f : power;
}

/* Colours are converted in a loop, because a function is large as often as it is inlined. */
INNER float4 srgb(float4 c, bool back) {
    for (uint i = 0; i < 3; i++) {
        c = (float4)(c.s12, kassay_srgb(c.s0, back), c.s3);
    }
    return c;
}

INNER int4 decoded(uint order, uint type, __global const uchar *texel) {
    uint count = channels(order);
    int4 in = 0;
    for (uint i = 0; i < 4; i++) {
        in = (int4)(in.s123, i < count ? channel_of(type, texel, i) : 0);
    }
    int one = is_integer(type) ? 1 : bits_of(1.0f);
    switch (order) {
    case CLK_A:
        return (int4)(0, 0, 0, in.s0);
    case CLK_RG:
    case CLK_RGx:
        return (int4)(in.s01, 0, one);
    case CLK_RA:
        return (int4)(in.s0, 0, 0, in.s1);
    case CLK_RGB:
    case CLK_RGBx:
        return (int4)(in.s012, one);
    case CLK_RGBA:
        return in;
    case CLK_BGRA:
        return in.s2103;
    case CLK_ARGB:
        return in.s1230;
    case CLK_INTENSITY:
        return in.s0000;
    case CLK_LUMINANCE:
        return (int4)(in.s000, one);
    case CLK_sRGBA:
        return is_integer(type) ? in : bits_of(srgb(floats_of(in), false));
    default:
        return (int4)(in.s0, 0, 0, one);
    }
}

INNER long limited(long value, long least, long most) { return value < least ? least : value > most ? most : value; }

/* Scales to a normalised integer; ties go to even. */
INNER int normalised(float value, float by, int least, int most) {
    return (int)limited(whole(rint(value * by)), least, most);
}

INNER void store_integer(uint type, __global uchar *texel, uint index, long value) {
    switch (type) {
    case CLK_SIGNED_INT8:
        ((__global char *)texel)[index] = (char)limited(value, -0x80, 0x7f);
        break;
    case CLK_SIGNED_INT16:
        ((__global short *)texel)[index] = (short)limited(value, -0x8000, 0x7fff);
        break;
    case CLK_UNSIGNED_INT8:
        texel[index] = (uchar)limited(value, 0, 0xff);
        break;
    case CLK_UNSIGNED_INT16:
        ((__global ushort *)texel)[index] = (ushort)limited(value, 0, 0xffff);
        break;
    default:
        ((__global int *)texel)[index] = (int)value;
        break;
    }
}

INNER void store_float(uint type, __global uchar *texel, uint index, float value) {
    switch (type) {
    case CLK_SNORM_INT8:
        ((__global char *)texel)[index] = (char)normalised(value, 127.0f, -0x80, 0x7f);
        break;
    case CLK_SNORM_INT16:
        ((__global short *)texel)[index] = (short)normalised(value, 32767.0f, -0x8000, 0x7fff);
        break;
    case CLK_UNORM_INT8:
        texel[index] = (uchar)normalised(value, 255.0f, 0, 0xff);
        break;
    case CLK_UNORM_INT16:
        ((__global ushort *)texel)[index] = (ushort)normalised(value, 65535.0f, 0, 0xffff);
        break;
    case CLK_HALF_FLOAT:
        vstore_half_rte(value, index, (__global half *)texel);
        break;
    default:
        ((__global float *)texel)[index] = value;
        break;
    }
}

/* The bits of a channel in a packed texel. */
INNER uint shifted(uint type, uint index, float value) {
    struct packing of = packed(type, index);
    uint number = natural(rint(value * (float)of.most));
    return (number < of.most ? number : of.most) << of.shift;
}

/* The component that a channel in memory holds; 4 is a channel that holds none. */
INNER uint component(uint order, uint index) {
    switch (order) {
    case CLK_A:
        return 3;
    case CLK_RA:
        return index == 0 ? 0 : 3;
    case CLK_BGRA:
        return index == 3 ? 3 : 2 - index;
    case CLK_ARGB:
        return index == 0 ? 3 : index - 1;
    case CLK_Rx:
        return index == 0 ? 0 : 4;
    case CLK_RGx:
        return index < 2 ? index : 4;
    case CLK_RGBx:
        return index < 3 ? index : 4;
    default:
        return index;
    }
}

INNER int chosen(int4 colour, uint component) {
    return component == 0 ? colour.s0 : component == 1 ? colour.s1 : component == 2 ? colour.s2 : component == 3 ? colour.s3 : 0;
}

/* The value of a component of a colour that a function of this kind writes, as a float and as an integer. */
INNER float as_written(int kind, int word) {
    return kind == KIND_i ? (float)word : kind == KIND_ui ? (float)(uint)word : float_of(word);
}

/* Values of other functions than the format's are cut to 32 bits and a sign. */
INNER long whole_written(uint type, int kind, int word) {
    if (kind != KIND_f) {
        return is_signed(type) ? (long)word : (long)(uint)word;
    }
    float x = float_of(word);
    return x < 0.0f ? (long)whole(x) : (long)natural(x);
}

INNER void encode(uint order, uint type, __global uchar *texel, int kind, int4 colour) {
    uint count = channels(order);
    if (is_integer(type)) {
        for (uint i = 0; i < count; i++) {
            store_integer(type, texel, i, whole_written(type, kind, chosen(colour, component(order, i))));
        }
        return;
    }
    float4 c = (float4)(as_written(kind, colour.s0), as_written(kind, colour.s1), as_written(kind, colour.s2),
                        as_written(kind, colour.s3));
    if (order == CLK_sRGBA) {
        c = srgb(c, true);
    }
    int4 bits = bits_of(c);
    if (is_packed(type)) {
        uint all = 0;
        for (uint i = 0; i < count && i < 3; i++) {
            all |= shifted(type, i, float_of(chosen(bits, component(order, i))));
        }
        if (type == CLK_UNORM_INT_101010) {
            *(__global uint *)texel = all;
        } else {
            *(__global ushort *)texel = (ushort)all;
        }
        return;
    }
    for (uint i = 0; i < count; i++) {
        store_float(type, texel, i, float_of(chosen(bits, component(order, i))));
    }
}
