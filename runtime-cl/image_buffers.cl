/* Images and samplers for devices that get none (`lower::image_buffers`): an image is a pointer to its descriptor, which the
 * texels follow; a sampler is the bits of its literal.
 *
 * What is read and written is what the simulator reads and writes (`exec::simulator::image`); tests compare both. */

#define IMAGE_HANDLE __global uchar *
#define SAMPLER_HANDLE uint

#include "host_images.cl"

#include "image_addresses.cl"

#include "image_texels.cl"

/* Whether an index of a texel is none (`image_addresses.cl`), in any dimension. */
INNER bool leads_outside(int x, int y, int z) { return x == OUTSIDE || y == OUTSIDE || z == OUTSIDE; }

INNER __global uchar *texel_at(image in, uint x, uint y, uint z) {
    __global const struct kassay_image *of = (__global const struct kassay_image *)in;
    ulong index = ((ulong)z * of->extents[1] + y) * of->extents[0] + x;
    return in + TEXELS + index * of->bytes;
}

/* The colour of a texel, or of the border: integers if the format's are, else the bits of floats. */
PART int4 kassay_texel(image in, int x, int y, int z) {
    __global const struct kassay_image *of = (__global const struct kassay_image *)in;
    if (x == BORDER || y == BORDER || z == BORDER) {
        int one = is_integer(of->type) ? 1 : bits_of(1.0f);
        return (int4)(0, 0, 0, has_opaque_border(of->order) ? one : 0);
    }
    return decoded(of->order, of->type, texel_at(in, x, y, z));
}

/* Interpolates between the texels around a place; for arrays, within a layer. */
INNER int4 filtered(image in, uint sampler_bits, int4 at) {
    __global const struct kassay_image *of = (__global const struct kassay_image *)in;
    uint dimensions = of->dimensions;
    struct pair x = kassay_linear(sampler_bits, float_of(at.x), of->extents[0]);
    struct pair y = {{0, 0}, 0.0f}, z = y;
    if (dimensions > 1) {
        y = kassay_linear(sampler_bits, float_of(at.y), of->extents[1]);
    } else if (of->is_layered) {
        y.texels = (int2)layer(float_of(at.y), of->extents[1]);
    }
    if (dimensions > 2) {
        z = kassay_linear(sampler_bits, float_of(at.z), of->extents[2]);
    } else if (dimensions > 1 && of->is_layered) {
        z.texels = (int2)layer(float_of(at.z), of->extents[2]);
    }
    if (leads_outside(x.texels.s0, y.texels.s0, z.texels.s0)) {
        return 0;
    }
    float4 sum = 0.0f;
    for (uint corner = 0; corner < 1u << dimensions; corner++) {
        bool right = corner & 1, below = corner & 2, behind = corner & 4;
        float weight = right ? x.weight : 1.0f - x.weight;
        if (dimensions > 1) {
            weight *= below ? y.weight : 1.0f - y.weight;
        }
        if (dimensions > 2) {
            weight *= behind ? z.weight : 1.0f - z.weight;
        }
        int4 colour = kassay_texel(in, right ? x.texels.s1 : x.texels.s0, below ? y.texels.s1 : y.texels.s0,
                                   behind ? z.texels.s1 : z.texels.s0);
        sum += weight * floats_of(colour);
    }
    return bits_of(sum);
}

/* The layer of an array. Without a sampler it has to exist. */
INNER int layer_at(uint sampler_bits, bool floats, int at, uint layers) {
    if (floats) {
        return layer(float_of(at), layers);
    }
    return sampler_bits ? clamped(at, layers) : checked(at, layers);
}

/* The components that a function of this kind (`KIND_f` and so on, but no halves) reads. `at`: integers or the bits of floats. What lies
 * outside where that is not defined reads as zero. */
PART int4 kassay_read(image in, uint through, int4 at, int kind) {
    __global const struct kassay_image *of = (__global const struct kassay_image *)in;
    bool floats = kind & FLOAT_COORDINATES;
    uint mode = (through & ADDRESSING) > CLK_ADDRESS_MIRRORED_REPEAT ? 0 : through;
    bool integers = is_integer(of->type);
    int4 colour;
    if (floats && (mode & CLK_FILTER_LINEAR) && !integers) {
        colour = filtered(in, mode, at);
    } else {
        uint dimensions = of->dimensions;
        int x = kassay_place(mode, floats, at.x, of->extents[0]), y = 0, z = 0;
        if (dimensions > 1) {
            y = kassay_place(mode, floats, at.y, of->extents[1]);
        } else if (of->is_layered) {
            y = layer_at(mode, floats, at.y, of->extents[1]);
        }
        if (dimensions > 2) {
            z = kassay_place(mode, floats, at.z, of->extents[2]);
        } else if (dimensions > 1 && of->is_layered) {
            z = layer_at(mode, floats, at.z, of->extents[2]);
        }
        if (leads_outside(x, y, z)) {
            return 0;
        }
        colour = kassay_texel(in, x, y, z);
    }
    kind &= ~FLOAT_COORDINATES;
    if (integers) {
        return kind == KIND_f ? bits_of(converted(of->type, colour)) : colour;
    }
    return kind == KIND_i ? whole4(floats_of(colour)) : kind == KIND_ui ? natural4(floats_of(colour)) : colour;
}

/* Writes the texel at integer coordinates; outside the image, nothing. `kind` as in `kassay_read`. */
PART void kassay_write(image to, int4 at, int kind, int4 colour) {
    __global const struct kassay_image *of = (__global const struct kassay_image *)to;
    uint count = of->dimensions + of->is_layered;
    uint x = at.x, y = count > 1 ? at.y : 0, z = count > 2 ? at.z : 0;
    if (x < of->extents[0] && y < of->extents[1] && z < of->extents[2]) {
        encode(of->order, of->type, texel_at(to, x, y, z), kind, colour);
    }
}

/* The placeholders of `host_images.cl`. `kind` is a constant, so either branch goes. */

__attribute__((always_inline)) void __kassay_at_image_read(image from, sampler through, __private void *coordinates, int kind,
                                                           __private void *result) {
    int4 at = *(__private int4 *)coordinates;
    if ((kind & ~FLOAT_COORDINATES) == KIND_h) {
        int4 colour = kassay_read(from, through, at, KIND_f | (kind & FLOAT_COORDINATES));
        *(__private half4 *)result = __builtin_convertvector(floats_of(colour), half4);
    } else {
        *(__private int4 *)result = kassay_read(from, through, at, kind);
    }
}

__attribute__((always_inline)) void __kassay_at_image_write(image to, __private void *coordinates, int kind,
                                                            __private void *texel) {
    int4 at = *(__private int4 *)coordinates;
    if (kind == KIND_h) {
        kassay_write(to, at, KIND_f, bits_of(__builtin_convertvector(*(__private half4 *)texel, float4)));
    } else {
        kassay_write(to, at, kind, *(__private int4 *)texel);
    }
}

__attribute__((always_inline)) long __kassay_at_image_query(image in, int what) {
    __global const struct kassay_image *of = (__global const struct kassay_image *)in;
    uint dimensions = of->dimensions;
    switch (what) {
    case WIDTH:
        return of->extents[0];
    case HEIGHT:
        return dimensions > 1 ? of->extents[1] : 0;
    case DEPTH:
        return dimensions > 2 ? of->extents[2] : 0;
    case ARRAY_SIZE:
        return !of->is_layered ? 0 : dimensions > 1 ? of->extents[2] : of->extents[1];
    case CHANNEL_TYPE:
        return of->type;
    default:
        return of->order;
    }
}
