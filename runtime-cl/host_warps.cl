/* Functions of CUDA's warps, among the lanes that a mask names (`cuda/include/kassay/warps.h`), as a placeholder that
 * instrumentation fills in: the simulator combines the values that the lanes bring. */

#include "host.h"

/* `abi::warp`. */
#define WARP_BARRIER 0
#define WARP_BALLOT 1
#define WARP_ANY 2
#define WARP_ALL 3
#define WARP_ADD 4
#define WARP_MIN_SIGNED 5
#define WARP_MIN_UNSIGNED 6
#define WARP_MAX_SIGNED 7
#define WARP_MAX_UNSIGNED 8
#define WARP_ACTIVE 9
#define WARP_SHUFFLE 16
#define WARP_SHUFFLE_UP 17
#define WARP_SHUFFLE_DOWN 18
#define WARP_SHUFFLE_XOR 19
/* Added for values of 64 bits. */
#define WARP_WIDE 32

BUILTIN void kassay_warp_barrier(uint mask, uint flags) { __kassay_at_warp(mask, WARP_BARRIER, flags, 0); }
BUILTIN uint kassay_warp_active(void) { return (uint)__kassay_at_warp(~0u, WARP_ACTIVE, 0, 0); }
BUILTIN uint4 kassay_warp_ballot(uint mask, int vote) {
    return (uint4)((uint)__kassay_at_warp(mask, WARP_BALLOT, vote != 0, 0), 0, 0, 0);
}
BUILTIN int kassay_warp_any(uint mask, int vote) { return (int)__kassay_at_warp(mask, WARP_ANY, vote != 0, 0); }
BUILTIN int kassay_warp_all(uint mask, int vote) { return (int)__kassay_at_warp(mask, WARP_ALL, vote != 0, 0); }

#define WARP_REDUCTION(T, NAME, KIND)                                                                                  \
    BUILTIN T kassay_warp_reduce_##NAME(uint mask, T x) { return (T)__kassay_at_warp(mask, KIND, (uint)x, 0); }

WARP_REDUCTION(int, add, WARP_ADD)
WARP_REDUCTION(uint, add, WARP_ADD)
WARP_REDUCTION(int, min, WARP_MIN_SIGNED)
WARP_REDUCTION(uint, min, WARP_MIN_UNSIGNED)
WARP_REDUCTION(int, max, WARP_MAX_SIGNED)
WARP_REDUCTION(uint, max, WARP_MAX_UNSIGNED)

/* Of type T, as the bits of W. */
#define WARP_SHUFFLE_OF(T, W, NAME, KIND)                                                                              \
    BUILTIN T kassay_warp_##NAME(uint mask, T x, uint from) {                                                          \
        return as_##T((W)__kassay_at_warp(mask, KIND, as_##W(x), from));                                               \
    }
#define WARP_SHUFFLES(NAME, KIND)                                                                                      \
    WARP_SHUFFLE_OF(int, uint, NAME, KIND)                                                                             \
    WARP_SHUFFLE_OF(uint, uint, NAME, KIND)                                                                            \
    WARP_SHUFFLE_OF(float, uint, NAME, KIND)                                                                           \
    WARP_SHUFFLE_OF(half, ushort, NAME, KIND)                                                                          \
    WARP_SHUFFLE_OF(long, ulong, NAME, KIND + WARP_WIDE)                                                               \
    WARP_SHUFFLE_OF(ulong, ulong, NAME, KIND + WARP_WIDE)                                                              \
    WARP_SHUFFLE_OF(double, ulong, NAME, KIND + WARP_WIDE)

WARP_SHUFFLES(shuffle, WARP_SHUFFLE)
WARP_SHUFFLES(shuffle_up, WARP_SHUFFLE_UP)
WARP_SHUFFLES(shuffle_down, WARP_SHUFFLE_DOWN)
WARP_SHUFFLES(shuffle_xor, WARP_SHUFFLE_XOR)
