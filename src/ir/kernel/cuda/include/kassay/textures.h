/* Textures and surfaces, which become images (textures.cpp).
 *
 * `cuda.texture.NAME.BUILTIN` is that builtin of OpenCL with a handle in the place of its image and its sampler: the
 * texture's own, or, for `cuda.fetch`, one that gives zero outside. `cuda.surface` has none. */
#pragma once
#include <kassay/host_types.h>

#define cudaTextureType1D 1
#define cudaTextureType2D 2
#define cudaTextureType3D 3
#define cudaTextureTypeCubemap 0xC
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaSurfaceType2D 2
struct textureReference {
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
};
template <typename T, int D = 1, int M = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {};
template <typename T, int D = 1> struct surface;
template <int D> struct __attribute__((device_builtin_surface_type)) surface<void, D> : textureReference {};
template <typename E> using __kassay_four = E __attribute__((ext_vector_type(4)));
typedef float __kassay_float2 __attribute__((ext_vector_type(2)));
typedef __kassay_four<float> __kassay_float4;
typedef int __kassay_int2 __attribute__((ext_vector_type(2)));
typedef __kassay_four<int> __kassay_int4;
typedef __kassay_four<unsigned> __kassay_uint4;

/* A texel of a type as the four components that OpenCL has; refused for types that are none of those below. */
__device__ void __kassay_other_texel() KASSAY_ABSENT("other_texel");
template <typename T> struct __kassay_texel {
    typedef __kassay_float4 vector;
    static KASSAY_DEVICE_MEMBER T of(vector) { __kassay_other_texel(); return T(); }
    static KASSAY_DEVICE_MEMBER void put(T &, vector) { __kassay_other_texel(); }
    static KASSAY_DEVICE_MEMBER vector from(const T &) { __kassay_other_texel(); return vector(); }
};
#define KASSAY_LIST(...) {__VA_ARGS__}
#define KASSAY_TEXEL(T, GIVEN, E, FROM, TO)                                                                            \
    template <> struct __kassay_texel<T> {                                                                             \
        typedef T type;                                                                                                \
        typedef __kassay_four<E> vector;                                                                               \
        static KASSAY_DEVICE_MEMBER type of(vector v) { return type KASSAY_LIST TO; }                                  \
        static KASSAY_DEVICE_MEMBER void put(type &t, vector v) { t = type KASSAY_LIST TO; }                           \
        static KASSAY_DEVICE_MEMBER vector from(GIVEN t) { return vector KASSAY_LIST FROM; }                           \
    };
#define KASSAY_TEXELS(NAME, C, E)                                                                                      \
    KASSAY_TEXEL(C, C, E, ((E)t, 0, 0, 0), ((C)v.x))                                                                   \
    KASSAY_TEXEL(NAME##1, const NAME##1 &, E, ((E)t.x, 0, 0, 0), ((C)v.x))                                             \
    KASSAY_TEXEL(NAME##2, const NAME##2 &, E, ((E)t.x, (E)t.y, 0, 0), ((C)v.x, (C)v.y))                                \
    KASSAY_TEXEL(NAME##4, const NAME##4 &, E, ((E)t.x, (E)t.y, (E)t.z, (E)t.w), ((C)v.x, (C)v.y, (C)v.z, (C)v.w))
KASSAY_TEXELS(char, signed char, int) KASSAY_TEXELS(uchar, unsigned char, unsigned) KASSAY_TEXELS(short, short, int)
KASSAY_TEXELS(ushort, unsigned short, unsigned) KASSAY_TEXELS(int, int, int) KASSAY_TEXELS(uint, unsigned, unsigned)
KASSAY_TEXELS(float, float, float) KASSAY_TEXEL(char, char, int, ((int)t, 0, 0, 0), ((char)v.x))

/* What a reference to a texture with texels of type T reads in mode M. */
template <typename T, int M> struct __kassay_read { typedef T type; };
#define KASSAY_NORMALISED(NAME, C)                                                                                     \
    template <> struct __kassay_read<C, cudaReadModeNormalizedFloat> { typedef float type; };                          \
    template <> struct __kassay_read<NAME##1, cudaReadModeNormalizedFloat> { typedef float1 type; };                   \
    template <> struct __kassay_read<NAME##2, cudaReadModeNormalizedFloat> { typedef float2 type; };                   \
    template <> struct __kassay_read<NAME##4, cudaReadModeNormalizedFloat> { typedef float4 type; };
KASSAY_NORMALISED(char, signed char) KASSAY_NORMALISED(uchar, unsigned char) KASSAY_NORMALISED(short, short)
KASSAY_NORMALISED(ushort, unsigned short)
template <> struct __kassay_read<char, cudaReadModeNormalizedFloat> { typedef float type; };

/* The builtins that read at coordinates of type C, chosen by the vector that they yield. */
#define KASSAY_READ(NAME, LETTER, V, C, BUILTIN)                                                                       \
    __device__ V __kassay_##NAME##_##LETTER(unsigned long long, C) KASSAY_AS("cuda." BUILTIN);                         \
    KASSAY_INNER V __kassay_##NAME(V, unsigned long long t, C at) { return __kassay_##NAME##_##LETTER(t, at); }
#define KASSAY_READS(NAME, WORD, C, CODE)                                                                              \
    KASSAY_READ(NAME, f, __kassay_float4, C, WORD "." #NAME "._Z11read_imagef" CODE)                                   \
    KASSAY_READ(NAME, i, __kassay_int4, C, WORD "." #NAME "._Z11read_imagei" CODE)                                     \
    KASSAY_READ(NAME, u, __kassay_uint4, C, WORD "." #NAME "._Z12read_imageui" CODE)

#define KASSAY_TEXTURE(NAME, WORD, C, IMAGE, CODE, AT, ...)                                                            \
    KASSAY_READS(NAME, WORD, C, IMAGE "11ocl_sampler" CODE)                                                            \
    template <typename T> KASSAY_INNER T NAME(cudaTextureObject_t t, __VA_ARGS__) {                                    \
        typedef __kassay_texel<T> X;                                                                                   \
        return X::of(__kassay_##NAME(typename X::vector(), t, C KASSAY_LIST AT));                                      \
    }                                                                                                                  \
    template <typename T> KASSAY_INNER void NAME(T *to, cudaTextureObject_t t, __VA_ARGS__) {                          \
        typedef __kassay_texel<T> X;                                                                                   \
        X::put(*to, __kassay_##NAME(typename X::vector(), t, C KASSAY_LIST AT));                                       \
    }                                                                                                                  \
    template <typename T, int D, int M>                                                                                \
    KASSAY_INNER typename __kassay_read<T, M>::type NAME(const texture<T, D, M> &t, __VA_ARGS__) {                     \
        typedef __kassay_texel<typename __kassay_read<T, M>::type> X;                                                  \
        return X::of(__kassay_##NAME(typename X::vector(), (unsigned long long)&t, C KASSAY_LIST AT));                 \
    }
KASSAY_TEXTURE(tex1Dfetch, "fetch", int, "14ocl_image1d_ro", "i", (i), int i)
KASSAY_TEXTURE(tex1D, "texture", float, "14ocl_image1d_ro", "f", (x), float x)
KASSAY_TEXTURE(tex2D, "texture", __kassay_float2, "14ocl_image2d_ro", "Dv2_f", (x, y), float x, float y)
KASSAY_TEXTURE(tex3D, "texture", __kassay_float4, "14ocl_image3d_ro", "Dv4_f", (x, y, z, 0), float x, float y, float z)
KASSAY_TEXTURE(tex1DLayered, "texture", __kassay_float2, "20ocl_image1d_array_ro", "Dv2_f", (x, (float)layer), float x,
               int layer)
KASSAY_TEXTURE(tex2DLayered, "texture", __kassay_float4, "20ocl_image2d_array_ro", "Dv4_f", (x, y, (float)layer, 0),
               float x, float y, int layer)
/* No texture has further levels here: whichever is asked for is the only one. */
KASSAY_TEXTURE(tex1DLod, "texture", float, "14ocl_image1d_ro", "f", (x), float x, float)
KASSAY_TEXTURE(tex2DLod, "texture", __kassay_float2, "14ocl_image2d_ro", "Dv2_f", (x, y), float x, float y, float)
KASSAY_TEXTURE(tex3DLod, "texture", __kassay_float4, "14ocl_image3d_ro", "Dv4_f", (x, y, z, 0), float x, float y,
               float z, float)
#define KASSAY_NO_TEXTURE(NAME)                                                                                        \
    __device__ void __kassay_##NAME() KASSAY_ABSENT(#NAME);                                                            \
    template <typename T, typename... A> KASSAY_INNER T NAME(A...) { __kassay_##NAME(); return T(); }
KASSAY_NO_TEXTURE(texCubemap) KASSAY_NO_TEXTURE(texCubemapLod) KASSAY_NO_TEXTURE(texCubemapLayered)
KASSAY_NO_TEXTURE(tex2Dgather) KASSAY_NO_TEXTURE(tex1DGrad) KASSAY_NO_TEXTURE(tex2DGrad) KASSAY_NO_TEXTURE(tex3DGrad)

/* Surfaces are addressed by bytes along x: one that no texel begins at lies outside. */
template <typename T> KASSAY_INNER int __kassay_at(int x) {
    return x % (int)sizeof(T) ? -1 : x / (int)sizeof(T);
}
/* Chosen over the functions without a condition, which are refused. */
#define KASSAY_TRAPS __attribute__((enable_if(mode == cudaBoundaryModeTrap, "")))
#define KASSAY_MODE cudaSurfaceBoundaryMode mode
#define KASSAY_SURFACE_OF(NAME, TEMPLATE, HANDLE, NUMBER, C, AT, ...)                                                  \
    TEMPLATE KASSAY_INNER T NAME##read(HANDLE, __VA_ARGS__, KASSAY_MODE = cudaBoundaryModeTrap) KASSAY_TRAPS {         \
        typedef __kassay_texel<T> X;                                                                                   \
        return X::of(__kassay_##NAME##read(typename X::vector(), NUMBER, C KASSAY_LIST AT));                           \
    }                                                                                                                  \
    TEMPLATE KASSAY_INNER void NAME##read(T *to, HANDLE, __VA_ARGS__, KASSAY_MODE = cudaBoundaryModeTrap)              \
        KASSAY_TRAPS {                                                                                                 \
        typedef __kassay_texel<T> X;                                                                                   \
        X::put(*to, __kassay_##NAME##read(typename X::vector(), NUMBER, C KASSAY_LIST AT));                            \
    }                                                                                                                  \
    TEMPLATE KASSAY_INNER void NAME##write(T v, HANDLE, __VA_ARGS__, KASSAY_MODE = cudaBoundaryModeTrap)               \
        KASSAY_TRAPS { __kassay_##NAME##write(NUMBER, C KASSAY_LIST AT, __kassay_texel<T>::from(v)); }                 \
    TEMPLATE KASSAY_INNER T NAME##read(HANDLE, __VA_ARGS__, KASSAY_MODE) { __kassay_boundary(); return T(); }          \
    TEMPLATE KASSAY_INNER void NAME##read(T *, HANDLE, __VA_ARGS__, KASSAY_MODE) { __kassay_boundary(); }              \
    TEMPLATE KASSAY_INNER void NAME##write(T, HANDLE, __VA_ARGS__, KASSAY_MODE) { __kassay_boundary(); }
#define KASSAY_WRITE(NAME, V, C, BUILTIN)                                                                              \
    __device__ void __kassay_##NAME##write(unsigned long long, C, V) KASSAY_AS("cuda.surface." #NAME "write." BUILTIN);
#define KASSAY_COMMA ,
#define KASSAY_SURFACE(NAME, C, IMAGE, CODE, AT, ...)                                                                  \
    KASSAY_READS(NAME##read, "surface", C, IMAGE "_ro" CODE)                                                           \
    KASSAY_WRITE(NAME, __kassay_float4, C, "_Z12write_imagef" IMAGE "_wo" CODE "Dv4_f")                                \
    KASSAY_WRITE(NAME, __kassay_int4, C, "_Z12write_imagei" IMAGE "_wo" CODE "Dv4_i")                                  \
    KASSAY_WRITE(NAME, __kassay_uint4, C, "_Z13write_imageui" IMAGE "_wo" CODE "Dv4_j")                                \
    KASSAY_SURFACE_OF(NAME, template <typename T>, cudaSurfaceObject_t s, s, C, AT, __VA_ARGS__)                       \
    KASSAY_SURFACE_OF(NAME, template <typename T KASSAY_COMMA int D>, const surface<void KASSAY_COMMA D> &s,           \
                      (unsigned long long)&s, C, AT, __VA_ARGS__)
__device__ void __kassay_boundary() KASSAY_ABSENT("boundary");
KASSAY_SURFACE(surf1D, int, "14ocl_image1d", "i", (__kassay_at<T>(x)), int x)
KASSAY_SURFACE(surf2D, __kassay_int2, "14ocl_image2d", "Dv2_i", (__kassay_at<T>(x), y), int x, int y)
KASSAY_SURFACE(surf3D, __kassay_int4, "14ocl_image3d", "Dv4_i", (__kassay_at<T>(x), y, z, 0), int x, int y, int z)
KASSAY_SURFACE(surf1DLayered, __kassay_int2, "20ocl_image1d_array", "Dv2_i", (__kassay_at<T>(x), layer), int x,
               int layer)
KASSAY_SURFACE(surf2DLayered, __kassay_int4, "20ocl_image2d_array", "Dv4_i", (__kassay_at<T>(x), y, layer, 0), int x,
               int y, int layer)
