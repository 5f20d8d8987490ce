/* Functions of warps, among the lanes that a mask names. Where it is known to name all, they are those of sub-groups of 32
 * work-items (warps.cpp). */
#pragma once
#include <kassay/indices.h>
#include <kassay/mathematics.h>
#include <kassay/synchronisation.h>

#define KASSAY_ALL_LANES 0xffffffffu
extern "C" __device__ unsigned __kassay_lane() KASSAY_AS("_Z22get_sub_group_local_idv");
extern "C" KASSAY_WAITS void __kassay_warp_barrier(unsigned, unsigned) KASSAY_AS("_Z19kassay_warp_barrierjj");
extern "C" KASSAY_WAITS int __kassay_warp_any(unsigned, int) KASSAY_AS("_Z15kassay_warp_anyji");
extern "C" KASSAY_WAITS int __kassay_warp_all(unsigned, int) KASSAY_AS("_Z15kassay_warp_allji");
typedef unsigned __attribute__((ext_vector_type(4))) __kassay_lanes;
extern "C" KASSAY_WAITS __kassay_lanes __kassay_ballot(unsigned, int) KASSAY_AS("_Z18kassay_warp_ballotji");
extern "C" KASSAY_WAITS unsigned __kassay_active() KASSAY_AS("_Z18kassay_warp_activev");

KASSAY_INNER void __syncwarp(unsigned mask = KASSAY_ALL_LANES) { __kassay_warp_barrier(mask, KASSAY_ALL_MEMORY); }
KASSAY_INNER unsigned __activemask() { return __kassay_active(); }
KASSAY_INNER unsigned __ballot_sync(unsigned mask, int p) { return __kassay_ballot(mask, p != 0).x; }
KASSAY_INNER int __any_sync(unsigned mask, int p) { return __kassay_warp_any(mask, p != 0); }
KASSAY_INNER int __all_sync(unsigned mask, int p) { return __kassay_warp_all(mask, p != 0); }
KASSAY_INNER unsigned __ballot(int p) { return __ballot_sync(KASSAY_ALL_LANES, p); }
KASSAY_INNER int __any(int p) { return __any_sync(KASSAY_ALL_LANES, p); }
KASSAY_INNER int __all(int p) { return __all_sync(KASSAY_ALL_LANES, p); }
KASSAY_INNER int __uni_sync(unsigned mask, int p) {
    unsigned lanes = __ballot_sync(mask, 1), those = __ballot_sync(mask, p);
    return those == 0 || those == lanes;
}

/* Shuffles: of the value that lane `from` has. The four kinds of CUDA's do not meet each other. */
#define KASSAY_SHUFFLE(NAME, LENGTH, T, LETTER)                                                                        \
    KASSAY_WAITS T __kassay_##NAME(unsigned mask, T, unsigned from)                                                    \
        KASSAY_AS("_Z" LENGTH "kassay_warp_" #NAME "j" LETTER "j");
#define KASSAY_NARROW_SHUFFLE(NAME, T)                                                                                 \
    KASSAY_INNER T __kassay_##NAME(unsigned mask, T v, unsigned from) {                                                \
        return (T)__kassay_##NAME(mask, (int)v, from);                                                                 \
    }
#define KASSAY_SHUFFLES(NAME, LENGTH)                                                                                  \
    KASSAY_SHUFFLE(NAME, LENGTH, int, "i") KASSAY_SHUFFLE(NAME, LENGTH, unsigned, "j")                                 \
    KASSAY_SHUFFLE(NAME, LENGTH, long, "l") KASSAY_SHUFFLE(NAME, LENGTH, unsigned long, "m")                           \
    KASSAY_SHUFFLE(NAME, LENGTH, float, "f") KASSAY_SHUFFLE(NAME, LENGTH, double, "d")                                 \
    KASSAY_SHUFFLE(NAME, LENGTH, _Float16, "Dh")                                                                       \
    KASSAY_INNER long long __kassay_##NAME(unsigned mask, long long v, unsigned from) {                                \
        return __kassay_##NAME(mask, (long)v, from);                                                                   \
    }                                                                                                                  \
    KASSAY_INNER unsigned long long __kassay_##NAME(unsigned mask, unsigned long long v, unsigned from) {              \
        return __kassay_##NAME(mask, (unsigned long)v, from);                                                          \
    }                                                                                                                  \
    KASSAY_NARROW_SHUFFLE(NAME, bool) KASSAY_NARROW_SHUFFLE(NAME, char) KASSAY_NARROW_SHUFFLE(NAME, signed char)       \
    KASSAY_NARROW_SHUFFLE(NAME, unsigned char) KASSAY_NARROW_SHUFFLE(NAME, short)                                      \
    KASSAY_NARROW_SHUFFLE(NAME, unsigned short)                                                                        \
    /* Other types travel in words of 32 bits. */                                                                      \
    template <typename T, size_t... I>                                                                                 \
    KASSAY_INNER T __kassay_##NAME##_words(unsigned mask, const T &v, unsigned from, std::index_sequence<I...>) {      \
        unsigned words[sizeof...(I)] = {};                                                                             \
        __builtin_memcpy(words, &v, sizeof(T));                                                                        \
        ((words[I] = __kassay_##NAME(mask, words[I], from)), ...);                                                     \
        T moved;                                                                                                       \
        __builtin_memcpy(&moved, words, sizeof(T));                                                                    \
        return moved;                                                                                                  \
    }                                                                                                                  \
    template <typename T> KASSAY_INNER T __kassay_##NAME(unsigned mask, const T &v, unsigned from) {                   \
        return __kassay_##NAME##_words(mask, v, from, std::make_index_sequence<(sizeof(T) + 3) / 4>());                \
    }
KASSAY_SHUFFLES(shuffle, "19")
KASSAY_SHUFFLES(shuffle_up, "22")
KASSAY_SHUFFLES(shuffle_down, "24")
KASSAY_SHUFFLES(shuffle_xor, "23")

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

template <typename T> KASSAY_INNER T __shfl_sync(unsigned mask, T v, int lane, int width = warpSize) {
    return __kassay_shuffle(mask, v, __kassay_from(lane, width));
}
template <typename T> KASSAY_INNER T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = warpSize) {
    return __kassay_shuffle_up(mask, v, __kassay_from_up(delta, width));
}
template <typename T> KASSAY_INNER T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = warpSize) {
    return __kassay_shuffle_down(mask, v, __kassay_from_down(delta, width));
}
template <typename T> KASSAY_INNER T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = warpSize) {
    return __kassay_shuffle_xor(mask, v, __kassay_from_xor(lanes, width));
}
template <typename T> KASSAY_INNER T __shfl(T v, int lane, int width = warpSize) {
    return __shfl_sync(KASSAY_ALL_LANES, v, lane, width);
}
template <typename T> KASSAY_INNER T __shfl_up(T v, unsigned delta, int width = warpSize) {
    return __shfl_up_sync(KASSAY_ALL_LANES, v, delta, width);
}
template <typename T> KASSAY_INNER T __shfl_down(T v, unsigned delta, int width = warpSize) {
    return __shfl_down_sync(KASSAY_ALL_LANES, v, delta, width);
}
template <typename T> KASSAY_INNER T __shfl_xor(T v, int lanes, int width = warpSize) {
    return __shfl_xor_sync(KASSAY_ALL_LANES, v, lanes, width);
}

#define KASSAY_WARP_REDUCTION(T, NAME, LETTER)                                                                         \
    KASSAY_WAITS T __kassay_warp_##NAME(unsigned mask, T) KASSAY_AS("_Z22kassay_warp_reduce_" #NAME "j" LETTER);       \
    KASSAY_INNER T __reduce_##NAME##_sync(unsigned mask, T v) { return __kassay_warp_##NAME(mask, v); }
KASSAY_WARP_REDUCTION(int, add, "i") KASSAY_WARP_REDUCTION(unsigned, add, "j")
KASSAY_WARP_REDUCTION(int, min, "i") KASSAY_WARP_REDUCTION(unsigned, min, "j")
KASSAY_WARP_REDUCTION(int, max, "i") KASSAY_WARP_REDUCTION(unsigned, max, "j")

/* Bit by bit, by votes. */
#define KASSAY_WARP_BITS(NAME, BIT)                                                                                    \
    KASSAY_INNER unsigned __reduce_##NAME##_sync(unsigned mask, unsigned v) {                                          \
        unsigned all = 0;                                                                                              \
        for (unsigned i = 0; i < 32; i++) {                                                                            \
            unsigned is_set = v >> i & 1;                                                                              \
            all |= (unsigned)(BIT) << i;                                                                               \
        }                                                                                                              \
        return all;                                                                                                    \
    }
KASSAY_WARP_BITS(and, __ballot_sync(mask, !is_set) == 0)
KASSAY_WARP_BITS(or, __ballot_sync(mask, is_set) != 0)
KASSAY_WARP_BITS(xor, __popc(__ballot_sync(mask, is_set)) & 1)

template <typename T> KASSAY_INNER unsigned long __kassay_bits(const T &v) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "values of 32 or 64 bits are matched");
    unsigned long bits = 0;
    __builtin_memcpy(&bits, &v, sizeof(T));
    return bits;
}
/* The lanes whose value has the same bits. */
template <typename T> KASSAY_INNER unsigned __match_any_sync(unsigned mask, T v) {
    unsigned long bits = __kassay_bits(v);
    unsigned same = __ballot_sync(mask, 1);
    for (unsigned i = 0; i < 8 * sizeof(T); i++) {
        unsigned is_set = bits >> i & 1, those = __ballot_sync(mask, (int)is_set);
        same &= is_set ? those : ~those;
    }
    return same;
}
template <typename T> KASSAY_INNER unsigned __match_all_sync(unsigned mask, T v, int *all) {
    unsigned lanes = __ballot_sync(mask, 1);
    *all = __all_sync(mask, __match_any_sync(mask, v) == lanes);
    return *all ? lanes : 0;
}
__device__ unsigned __lanemask_lt() KASSAY_ABSENT("__lanemask_lt");
KASSAY_INNER unsigned __lane_id() { return __kassay_lane(); }
