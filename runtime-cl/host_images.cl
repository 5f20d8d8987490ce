/* Images and samplers (OpenCL C 3.0, 6.15.15), as pointers to the simulator's handles, or as what another target says they are
 * (`image_buffers.cl`). OpenCL C has no casts between the two types, so these functions state their mangled names explicitly. */

#include "host.h"

#ifndef IMAGE_HANDLE
#define IMAGE_HANDLE __private void *
#define SAMPLER_HANDLE __private void *
#endif

typedef IMAGE_HANDLE image;
typedef SAMPLER_HANDLE sampler;

void __kassay_at_image_read(image from, sampler through, __private void *coordinates, int kind, __private void *result);
void __kassay_at_image_write(image to, __private void *coordinates, int kind, __private void *texel);
long __kassay_at_image_query(image of, int what);

/* `abi::texel`. */
#define KIND_f 0
#define KIND_i 1
#define KIND_ui 2
#define KIND_h 3
#define FLOAT_COORDINATES 8

/* `abi::query`. */
#define WIDTH 0
#define HEIGHT 1
#define DEPTH 2
#define ARRAY_SIZE 3
#define CHANNEL_TYPE 4
#define CHANNEL_ORDER 5

/* A sampler literal is its bits: a small number, unlike any handle. */
__attribute__((always_inline)) sampler __translate_sampler_initializer(int bits) { return (sampler)(size_t)(uint)bits; }

/* Coordinates by their mangled type: their type in OpenCL C. */
#define C_i int
#define C_Dv2_i int2
#define C_Dv4_i int4
#define C_f float
#define C_Dv2_f float2
#define C_Dv4_f float4
#define FOUR_i(C) (int4)(C, 0, 0, 0)
#define FOUR_Dv2_i(C) (int4)(C, 0, 0)
#define FOUR_Dv4_i(C) (C)
#define FOUR_f(C) as_words((float4)(C, 0, 0, 0))
#define FOUR_Dv2_f(C) as_words((float4)(C, 0, 0))
#define FOUR_Dv4_f(C) as_words(C)
#define OFFERED_i 0
#define OFFERED_Dv2_i 0
#define OFFERED_Dv4_i 0
#define OFFERED_f FLOAT_COORDINATES
#define OFFERED_Dv2_f FLOAT_COORDINATES
#define OFFERED_Dv4_f FLOAT_COORDINATES

INNER int4 as_words(float4 values) { return __builtin_astype(values, int4); }

/* R: the suffix of the name (`f`), T: the texel's type, LENGTH: that of the name, IMAGE: mangled, without access (`ocl_image2d`),
 * A: access, N: length of the image's name. */

#define READ(R, T, LENGTH, IMAGE, A, N, C)                                                                             \
    __attribute__((always_inline)) T read_##R##IMAGE##A##C(image from, C_##C at) __asm__(                              \
        "_Z" #LENGTH "read_image" #R #N #IMAGE "_" #A #C);                                                             \
    T read_##R##IMAGE##A##C(image from, C_##C at) {                                                                    \
        int4 coordinates = FOUR_##C(at);                                                                               \
        T result;                                                                                                      \
        __kassay_at_image_read(from, 0, &coordinates, KIND_##R, &result);                                              \
        return result;                                                                                                 \
    }

#define SAMPLE(R, T, LENGTH, IMAGE, A, N, C)                                                                           \
    __attribute__((always_inline)) T sample_##R##IMAGE##A##C(image from, sampler through, C_##C at) __asm__(           \
        "_Z" #LENGTH "read_image" #R #N #IMAGE "_" #A "11ocl_sampler" #C);                                             \
    T sample_##R##IMAGE##A##C(image from, sampler through, C_##C at) {                                                 \
        int4 coordinates = FOUR_##C(at);                                                                               \
        T result;                                                                                                      \
        __kassay_at_image_read(from, through, &coordinates, KIND_##R | OFFERED_##C, &result);                          \
        return result;                                                                                                 \
    }

/* MANGLED: the mangled type of the texel. */
#define WRITE(R, T, MANGLED, LENGTH, IMAGE, A, N, C)                                                                   \
    __attribute__((always_inline)) void write_##R##IMAGE##A##C(image to, C_##C at, T texel) __asm__(                   \
        "_Z" #LENGTH "write_image" #R #N #IMAGE "_" #A #C #MANGLED);                                                   \
    void write_##R##IMAGE##A##C(image to, C_##C at, T texel) {                                                         \
        int4 coordinates = FOUR_##C(at);                                                                               \
        __kassay_at_image_write(to, &coordinates, KIND_##R, &texel);                                                   \
    }

#define READS(IMAGE, A, N, C)                                                                                          \
    READ(f, float4, 11, IMAGE, A, N, C)                                                                                \
    READ(i, int4, 11, IMAGE, A, N, C)                                                                                  \
    READ(ui, uint4, 12, IMAGE, A, N, C)                                                                                \
    READ(h, half4, 11, IMAGE, A, N, C)

#define SAMPLES(IMAGE, A, N, C)                                                                                        \
    SAMPLE(f, float4, 11, IMAGE, A, N, C)                                                                              \
    SAMPLE(i, int4, 11, IMAGE, A, N, C)                                                                                \
    SAMPLE(ui, uint4, 12, IMAGE, A, N, C)                                                                              \
    SAMPLE(h, half4, 11, IMAGE, A, N, C)

/* SAME: how an `int4` is mangled after the coordinates. */
#define WRITES(IMAGE, A, N, C, SAME)                                                                                   \
    WRITE(f, float4, Dv4_f, 12, IMAGE, A, N, C)                                                                        \
    WRITE(i, int4, SAME, 12, IMAGE, A, N, C)                                                                           \
    WRITE(ui, uint4, Dv4_j, 13, IMAGE, A, N, C)                                                                        \
    WRITE(h, half4, Dv4_Dh, 12, IMAGE, A, N, C)

/* I: coordinates as integers, F: as floats. */
#define IMAGE_KIND(IMAGE, N, I, F, SAME)                                                                               \
    READS(IMAGE, ro, N, I)                                                                                             \
    READS(IMAGE, rw, N, I)                                                                                             \
    SAMPLES(IMAGE, ro, N, I)                                                                                           \
    SAMPLES(IMAGE, ro, N, F)                                                                                           \
    WRITES(IMAGE, wo, N, I, SAME)                                                                                      \
    WRITES(IMAGE, rw, N, I, SAME)

IMAGE_KIND(ocl_image1d, 14, i, f, Dv4_i)
IMAGE_KIND(ocl_image1d_array, 20, Dv2_i, Dv2_f, Dv4_i)
IMAGE_KIND(ocl_image2d, 14, Dv2_i, Dv2_f, Dv4_i)
IMAGE_KIND(ocl_image2d_array, 20, Dv4_i, Dv4_f, S0_)
IMAGE_KIND(ocl_image3d, 14, Dv4_i, Dv4_f, S0_)

READS(ocl_image1d_buffer, ro, 21, i)
READS(ocl_image1d_buffer, rw, 21, i)
WRITES(ocl_image1d_buffer, wo, 21, i, Dv4_i)
WRITES(ocl_image1d_buffer, rw, 21, i, Dv4_i)

/* Depth images: a texel is a single float, read like other texels and written as the first component. */

#define DEPTH_READ(IMAGE, A, N, C)                                                                                     \
    __attribute__((always_inline)) float depth_read##IMAGE##A##C(image from, C_##C at) __asm__(                        \
        "_Z11read_imagef" #N #IMAGE "_" #A #C);                                                                        \
    float depth_read##IMAGE##A##C(image from, C_##C at) {                                                              \
        int4 coordinates = FOUR_##C(at);                                                                               \
        float4 result;                                                                                                 \
        __kassay_at_image_read(from, 0, &coordinates, KIND_f, &result);                                                \
        return result.s0;                                                                                              \
    }

#define DEPTH_SAMPLE(IMAGE, N, C)                                                                                      \
    __attribute__((always_inline)) float depth_sample##IMAGE##C(image from, sampler through, C_##C at) __asm__(        \
        "_Z11read_imagef" #N #IMAGE "_ro11ocl_sampler" #C);                                                            \
    float depth_sample##IMAGE##C(image from, sampler through, C_##C at) {                                              \
        int4 coordinates = FOUR_##C(at);                                                                               \
        float4 result;                                                                                                 \
        __kassay_at_image_read(from, through, &coordinates, KIND_f | OFFERED_##C, &result);                            \
        return result.s0;                                                                                              \
    }

#define DEPTH_WRITE(IMAGE, A, N, C)                                                                                    \
    __attribute__((always_inline)) void depth_write##IMAGE##A##C(image to, C_##C at, float depth) __asm__(             \
        "_Z12write_imagef" #N #IMAGE "_" #A #C "f");                                                                   \
    void depth_write##IMAGE##A##C(image to, C_##C at, float depth) {                                                   \
        int4 coordinates = FOUR_##C(at);                                                                               \
        float4 texel = (float4)(depth, 0, 0, 1);                                                                       \
        __kassay_at_image_write(to, &coordinates, KIND_f, &texel);                                                     \
    }

#define DEPTH_KIND(IMAGE, N, I, F)                                                                                     \
    DEPTH_READ(IMAGE, ro, N, I)                                                                                        \
    DEPTH_READ(IMAGE, rw, N, I)                                                                                        \
    DEPTH_SAMPLE(IMAGE, N, I)                                                                                          \
    DEPTH_SAMPLE(IMAGE, N, F)                                                                                          \
    DEPTH_WRITE(IMAGE, wo, N, I)                                                                                       \
    DEPTH_WRITE(IMAGE, rw, N, I)

DEPTH_KIND(ocl_image2d_depth, 20, Dv2_i, Dv2_f)
DEPTH_KIND(ocl_image2d_array_depth, 26, Dv4_i, Dv4_f)

/* Queries. */

#define QUERY(T, LENGTH, NAME, WHAT, IMAGE, A, N)                                                                      \
    __attribute__((always_inline)) T query_##NAME##IMAGE##A(image of) __asm__("_Z" #LENGTH #NAME #N #IMAGE "_" #A);    \
    T query_##NAME##IMAGE##A(image of) { return (T)__kassay_at_image_query(of, WHAT); }

#define FLAT_SIZE(IMAGE, A, N)                                                                                         \
    QUERY(int, 16, get_image_height, HEIGHT, IMAGE, A, N)                                                              \
    __attribute__((always_inline)) int2 query_dim##IMAGE##A(image of) __asm__("_Z13get_image_dim" #N #IMAGE "_" #A);   \
    int2 query_dim##IMAGE##A(image of) {                                                                               \
        return (int2)((int)__kassay_at_image_query(of, WIDTH), (int)__kassay_at_image_query(of, HEIGHT));              \
    }

#define SOLID_SIZE(IMAGE, A, N)                                                                                        \
    QUERY(int, 16, get_image_height, HEIGHT, IMAGE, A, N)                                                              \
    QUERY(int, 15, get_image_depth, DEPTH, IMAGE, A, N)                                                                \
    __attribute__((always_inline)) int4 query_dim##IMAGE##A(image of) __asm__("_Z13get_image_dim" #N #IMAGE "_" #A);   \
    int4 query_dim##IMAGE##A(image of) {                                                                               \
        return (int4)((int)__kassay_at_image_query(of, WIDTH), (int)__kassay_at_image_query(of, HEIGHT),               \
                      (int)__kassay_at_image_query(of, DEPTH), 0);                                                     \
    }

#define LINE_SIZE(IMAGE, A, N)

#define ARRAY_QUERY(IMAGE, A, N) QUERY(size_t, 20, get_image_array_size, ARRAY_SIZE, IMAGE, A, N)

#define QUERIES_OF(IMAGE, A, N, MORE, ARRAY)                                                                           \
    QUERY(int, 15, get_image_width, WIDTH, IMAGE, A, N)                                                                \
    QUERY(int, 27, get_image_channel_data_type, CHANNEL_TYPE, IMAGE, A, N)                                             \
    QUERY(int, 23, get_image_channel_order, CHANNEL_ORDER, IMAGE, A, N)                                                \
    MORE(IMAGE, A, N)                                                                                                  \
    ARRAY(IMAGE, A, N)

#define QUERIES(IMAGE, N, MORE, ARRAY)                                                                                 \
    QUERIES_OF(IMAGE, ro, N, MORE, ARRAY)                                                                              \
    QUERIES_OF(IMAGE, wo, N, MORE, ARRAY)                                                                              \
    QUERIES_OF(IMAGE, rw, N, MORE, ARRAY)

QUERIES(ocl_image1d, 14, LINE_SIZE, LINE_SIZE)
QUERIES(ocl_image1d_buffer, 21, LINE_SIZE, LINE_SIZE)
QUERIES(ocl_image1d_array, 20, LINE_SIZE, ARRAY_QUERY)
QUERIES(ocl_image2d, 14, FLAT_SIZE, LINE_SIZE)
QUERIES(ocl_image2d_array, 20, FLAT_SIZE, ARRAY_QUERY)
QUERIES(ocl_image2d_depth, 20, FLAT_SIZE, LINE_SIZE)
QUERIES(ocl_image2d_array_depth, 26, FLAT_SIZE, ARRAY_QUERY)
QUERIES(ocl_image3d, 14, SOLID_SIZE, LINE_SIZE)
