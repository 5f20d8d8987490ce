/* Functions of warps: those of sub-groups of 32 work-items, of which all take part.
 *
 * `__kassay_all_lanes` is removed where the mask is known to name all lanes, and refused elsewhere (warps.cpp). */
#pragma once
#include <kassay/indices.h>
#include <kassay/mathematics.h>
#include <kassay/synchronisation.h>

extern "C" KASSAY_WAITS void __kassay_all_lanes(unsigned mask) KASSAY_ABSENT("all_lanes");
extern "C" __device__ unsigned __kassay_lane() KASSAY_AS("_Z22get_sub_group_local_idv");
extern "C" KASSAY_WAITS void __kassay_warp_barrier(unsigned) KASSAY_AS("_Z17sub_group_barrierj");
extern "C" KASSAY_WAITS int __kassay_warp_any(int) KASSAY_AS("_Z13sub_group_anyi");
extern "C" KASSAY_WAITS int __kassay_warp_all(int) KASSAY_AS("_Z13sub_group_alli");
typedef unsigned __attribute__((ext_vector_type(4))) __kassay_lanes;
extern "C" KASSAY_WAITS __kassay_lanes __kassay_ballot(int) KASSAY_AS("_Z16sub_group_balloti");

KASSAY_INNER void __syncwarp(unsigned mask = 0xffffffffu) { __kassay_all_lanes(mask); __kassay_warp_barrier(KASSAY_ALL_MEMORY); }
KASSAY_INNER unsigned __ballot(int p) { return __kassay_ballot(p != 0).x; }
KASSAY_INNER int __any(int p) { return __kassay_warp_any(p != 0); }
KASSAY_INNER int __all(int p) { return __kassay_warp_all(p != 0); }
KASSAY_INNER unsigned __activemask() { return __kassay_ballot(1).x; }
KASSAY_INNER unsigned __ballot_sync(unsigned mask, int p) { __kassay_all_lanes(mask); return __ballot(p); }
KASSAY_INNER int __any_sync(unsigned mask, int p) { __kassay_all_lanes(mask); return __any(p); }
KASSAY_INNER int __all_sync(unsigned mask, int p) { __kassay_all_lanes(mask); return __all(p); }
KASSAY_WAITS int __kassay_uni(unsigned) KASSAY_ABSENT("__uni_sync");
KASSAY_INNER int __uni_sync(unsigned mask, int) { return __kassay_uni(mask); }

#define KASSAY_SHUFFLE(T, LETTER) KASSAY_WAITS T __kassay_shuffle(T, unsigned) KASSAY_AS("_Z17sub_group_shuffle" LETTER "j");
KASSAY_SHUFFLE(int, "i") KASSAY_SHUFFLE(unsigned, "j") KASSAY_SHUFFLE(long, "l") KASSAY_SHUFFLE(unsigned long, "m")
KASSAY_SHUFFLE(float, "f") KASSAY_SHUFFLE(double, "d") KASSAY_SHUFFLE(_Float16, "Dh")
KASSAY_INNER long long __kassay_shuffle(long long v, unsigned lane) { return __kassay_shuffle((long)v, lane); }
KASSAY_INNER unsigned long long __kassay_shuffle(unsigned long long v, unsigned lane) {
    return __kassay_shuffle((unsigned long)v, lane);
}
#define KASSAY_NARROW_SHUFFLE(T)                                                                                       \
    KASSAY_INNER T __kassay_shuffle(T v, unsigned lane) { return (T)__kassay_shuffle((int)v, lane); }
KASSAY_NARROW_SHUFFLE(bool) KASSAY_NARROW_SHUFFLE(char) KASSAY_NARROW_SHUFFLE(signed char)
KASSAY_NARROW_SHUFFLE(unsigned char) KASSAY_NARROW_SHUFFLE(short) KASSAY_NARROW_SHUFFLE(unsigned short)
/* Other types travel in words of 32 bits. */
template <typename T, size_t... I>
KASSAY_INNER T __kassay_shuffle_words(const T &v, unsigned lane, std::index_sequence<I...>) {
    unsigned words[sizeof...(I)] = {};
    __builtin_memcpy(words, &v, sizeof(T));
    ((words[I] = __kassay_shuffle(words[I], lane)), ...);
    T moved;
    __builtin_memcpy(&moved, words, sizeof(T));
    return moved;
}
template <typename T> KASSAY_INNER T __kassay_shuffle(const T &v, unsigned lane) {
    return __kassay_shuffle_words(v, lane, std::make_index_sequence<(sizeof(T) + 3) / 4>());
}

/* The lane from which a lane reads, in segments of `width` lanes; its own if the other one is none of the segment's. */
KASSAY_INNER unsigned __kassay_from(int lane, int width) {
    unsigned last = (unsigned)width - 1;
    return (__kassay_lane() & ~last) | ((unsigned)lane & last);
}
KASSAY_INNER unsigned __kassay_from_up(unsigned delta, int width) {
    unsigned own = __kassay_lane();
    return (own & ((unsigned)width - 1)) < delta ? own : own - delta;
}
KASSAY_INNER unsigned __kassay_from_down(unsigned delta, int width) {
    unsigned own = __kassay_lane();
    return (own & ((unsigned)width - 1)) + delta >= (unsigned)width ? own : own + delta;
}
/* A lane of an earlier segment may be read, one of a later segment may not (PTX's shfl.bfly). */
KASSAY_INNER unsigned __kassay_from_xor(int mask, int width) {
    unsigned own = __kassay_lane(), other = own ^ (unsigned)mask;
    return other > (own | ((unsigned)width - 1)) ? own : other;
}

template <typename T> KASSAY_INNER T __shfl(T v, int lane, int width = warpSize) {
    return __kassay_shuffle(v, __kassay_from(lane, width));
}
template <typename T> KASSAY_INNER T __shfl_up(T v, unsigned delta, int width = warpSize) {
    return __kassay_shuffle(v, __kassay_from_up(delta, width));
}
template <typename T> KASSAY_INNER T __shfl_down(T v, unsigned delta, int width = warpSize) {
    return __kassay_shuffle(v, __kassay_from_down(delta, width));
}
template <typename T> KASSAY_INNER T __shfl_xor(T v, int mask, int width = warpSize) {
    return __kassay_shuffle(v, __kassay_from_xor(mask, width));
}
template <typename T> KASSAY_INNER T __shfl_sync(unsigned mask, T v, int lane, int width = warpSize) {
    __kassay_all_lanes(mask);
    return __shfl(v, lane, width);
}
template <typename T> KASSAY_INNER T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = warpSize) {
    __kassay_all_lanes(mask);
    return __shfl_up(v, delta, width);
}
template <typename T> KASSAY_INNER T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = warpSize) {
    __kassay_all_lanes(mask);
    return __shfl_down(v, delta, width);
}
template <typename T> KASSAY_INNER T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = warpSize) {
    __kassay_all_lanes(mask);
    return __shfl_xor(v, lanes, width);
}

#define KASSAY_WARP_REDUCTION(T, NAME, SYMBOL)                                                                         \
    KASSAY_WAITS T __kassay_warp_##NAME(T) KASSAY_AS(SYMBOL);                                                          \
    KASSAY_INNER T __reduce_##NAME##_sync(unsigned mask, T v) { __kassay_all_lanes(mask); return __kassay_warp_##NAME(v); }
KASSAY_WARP_REDUCTION(int, add, "_Z20sub_group_reduce_addi") KASSAY_WARP_REDUCTION(unsigned, add, "_Z20sub_group_reduce_addj")
KASSAY_WARP_REDUCTION(int, min, "_Z20sub_group_reduce_mini") KASSAY_WARP_REDUCTION(unsigned, min, "_Z20sub_group_reduce_minj")
KASSAY_WARP_REDUCTION(int, max, "_Z20sub_group_reduce_maxi") KASSAY_WARP_REDUCTION(unsigned, max, "_Z20sub_group_reduce_maxj")
__device__ unsigned __reduce_and_sync(unsigned, unsigned) KASSAY_ABSENT("__reduce_and_sync");
__device__ unsigned __reduce_or_sync(unsigned, unsigned) KASSAY_ABSENT("__reduce_or_sync");
__device__ unsigned __reduce_xor_sync(unsigned, unsigned) KASSAY_ABSENT("__reduce_xor_sync");
__device__ unsigned __kassay_match_any() KASSAY_ABSENT("__match_any_sync");
__device__ unsigned __kassay_match_all() KASSAY_ABSENT("__match_all_sync");
template <typename T> KASSAY_INNER unsigned __match_any_sync(unsigned, T) { return __kassay_match_any(); }
template <typename T> KASSAY_INNER unsigned __match_all_sync(unsigned, T, int *) { return __kassay_match_all(); }
__device__ unsigned __lanemask_lt() KASSAY_ABSENT("__lanemask_lt");
KASSAY_INNER unsigned __lane_id() { return __kassay_lane(); }
