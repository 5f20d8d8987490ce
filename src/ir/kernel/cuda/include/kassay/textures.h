/* Textures and surfaces: types, and functions that are refused where a kernel calls them. */
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
template <typename T, int M> struct __kassay_texel { typedef T type; };
template <> struct __kassay_texel<unsigned char, 1> { typedef float type; };
template <> struct __kassay_texel<uchar4, 1> { typedef float4 type; };

#define KASSAY_TEXTURE_READ(NAME, ...)                                                                                 \
    __device__ void __kassay_##NAME() KASSAY_ABSENT(#NAME);                                                            \
    template <typename T, int D, int M>                                                                                \
    KASSAY_INNER typename __kassay_texel<T, M>::type NAME(texture<T, D, M>, __VA_ARGS__) { __kassay_##NAME(); return {}; } \
    template <typename T> KASSAY_INNER T NAME(cudaTextureObject_t, __VA_ARGS__) { __kassay_##NAME(); return {}; }      \
    template <typename T> KASSAY_INNER void NAME(T *, cudaTextureObject_t, __VA_ARGS__) { __kassay_##NAME(); }
KASSAY_TEXTURE_READ(tex1Dfetch, int) KASSAY_TEXTURE_READ(tex1D, float) KASSAY_TEXTURE_READ(tex2D, float, float)
KASSAY_TEXTURE_READ(tex3D, float, float, float) KASSAY_TEXTURE_READ(tex1DLayered, float, int)
KASSAY_TEXTURE_READ(tex2DLayered, float, float, int) KASSAY_TEXTURE_READ(tex1DLod, float, float)
KASSAY_TEXTURE_READ(tex2DLod, float, float, float) KASSAY_TEXTURE_READ(tex3DLod, float, float, float, float)
KASSAY_TEXTURE_READ(texCubemap, float, float, float)
#define KASSAY_SURFACE(NAME, ...)                                                                                      \
    __device__ void __kassay_##NAME##read() KASSAY_ABSENT(#NAME "read");                                               \
    __device__ void __kassay_##NAME##write() KASSAY_ABSENT(#NAME "write");                                             \
    template <typename T> KASSAY_INNER T NAME##read(cudaSurfaceObject_t, __VA_ARGS__,                                  \
                                                    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {                  \
        __kassay_##NAME##read();                                                                                       \
        return {};                                                                                                     \
    }                                                                                                                  \
    template <typename T> KASSAY_INNER void NAME##read(T *, cudaSurfaceObject_t, __VA_ARGS__,                          \
                                                       cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {               \
        __kassay_##NAME##read();                                                                                       \
    }                                                                                                                  \
    template <typename T, typename S> KASSAY_INNER void NAME##write(T, S, __VA_ARGS__,                                 \
                                                                    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {  \
        __kassay_##NAME##write();                                                                                      \
    }
KASSAY_SURFACE(surf1D, int) KASSAY_SURFACE(surf2D, int, int) KASSAY_SURFACE(surf3D, int, int, int)
