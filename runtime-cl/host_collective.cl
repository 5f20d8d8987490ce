/* Collective functions of work-groups and sub-groups (OpenCL C 3.0, 6.15.16 and 6.15.19; the extensions cl_khr_subgroup_*): every
 * work-item contributes a value, waits, and reads the values of the others. */

#include "host.h"

#define GROUPED 0
#define SUB_GROUPED 1
/* Added to these where a value that occurs once more changes nothing: the values of work-items that have returned, which CUDA
 * does not wait for, are then those of others, and else 0. */
#define REPEATABLE_add 0
#define REPEATABLE_mul 0
#define REPEATABLE_xor 0
#define REPEATABLE_logical_xor 0
#define REPEATABLE_min 2
#define REPEATABLE_max 2
#define REPEATABLE_and 2
#define REPEATABLE_or 2
#define REPEATABLE_logical_and 2
#define REPEATABLE_logical_or 2

/* The number of work-items, and the index of this one. */
INNER uint work_group_count(void) { return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)); }
INNER uint work_group_rank(void) { return (uint)get_local_linear_id(); }
INNER uint sub_group_count(void) { return get_sub_group_size(); }
INNER uint sub_group_rank(void) { return get_sub_group_local_id(); }

#define EXCHANGE(T, X, WHICH) ((__private const T *)__kassay_at_exchange((__private void *)&(X), sizeof(T), WHICH))

/* The values of all work-items with indices from `first` up to, but not including, `last`. */
#define FOLD(T, OP, FIRST, LAST, START)                                                                                \
    T all = START;                                                                                                     \
    for (uint i = FIRST; i < LAST; i++) {                                                                              \
        all = OP(all, values[i]);                                                                                      \
    }                                                                                                                  \
    return all;

#define ADD(A, B) ((A) + (B))
#define MIN(A, B) ((B) < (A) ? (B) : (A))
#define MAX(A, B) ((A) < (B) ? (B) : (A))
#define MUL(A, B) ((A) * (B))
#define AND(A, B) ((A) & (B))
#define OR(A, B) ((A) | (B))
#define XOR(A, B) ((A) ^ (B))
#define LOGICAL_AND(A, B) ((A) && (B))
#define LOGICAL_OR(A, B) ((A) || (B))
#define LOGICAL_XOR(A, B) (!(A) != !(B))

#define OPERATION(PREFIX, WHICH, T, NAME, OP, NEUTRAL)                                                                 \
    BUILTIN T PREFIX##_reduce_##NAME(T x) {                                                                            \
        __private const T *values = EXCHANGE(T, x, WHICH + REPEATABLE_##NAME);                                         \
        FOLD(T, OP, 1, PREFIX##_count(), values[0])                                                                    \
    }                                                                                                                  \
    BUILTIN T PREFIX##_scan_inclusive_##NAME(T x) {                                                                    \
        __private const T *values = EXCHANGE(T, x, WHICH);                                                             \
        FOLD(T, OP, 1, PREFIX##_rank() + 1, values[0])                                                                 \
    }                                                                                                                  \
    BUILTIN T PREFIX##_scan_exclusive_##NAME(T x) {                                                                    \
        __private const T *values = EXCHANGE(T, x, WHICH);                                                             \
        FOLD(T, OP, 0, PREFIX##_rank(), NEUTRAL)                                                                       \
    }

#define OPERATIONS(T, LEAST, GREATEST)                                                                                 \
    OPERATION(work_group, GROUPED, T, add, ADD, 0)                                                                     \
    OPERATION(work_group, GROUPED, T, min, MIN, GREATEST)                                                              \
    OPERATION(work_group, GROUPED, T, max, MAX, LEAST)                                                                 \
    OPERATION(sub_group, SUB_GROUPED, T, add, ADD, 0)                                                                  \
    OPERATION(sub_group, SUB_GROUPED, T, min, MIN, GREATEST)                                                           \
    OPERATION(sub_group, SUB_GROUPED, T, max, MAX, LEAST)

OPERATIONS(char, CHAR_MIN, CHAR_MAX)
OPERATIONS(uchar, 0, UCHAR_MAX)
OPERATIONS(short, SHRT_MIN, SHRT_MAX)
OPERATIONS(ushort, 0, USHRT_MAX)
OPERATIONS(int, INT_MIN, INT_MAX)
OPERATIONS(uint, 0, UINT_MAX)
OPERATIONS(long, LONG_MIN, LONG_MAX)
OPERATIONS(ulong, 0, ULONG_MAX)
OPERATIONS(half, -(half)INFINITY, (half)INFINITY)
OPERATIONS(float, -INFINITY, INFINITY)
OPERATIONS(double, -(double)INFINITY, (double)INFINITY)

/* cl_khr_work_group_uniform_arithmetic. */

#define MORE_OPERATIONS(T, ONES)                                                                                       \
    OPERATION(work_group, GROUPED, T, mul, MUL, 1)                                                                     \
    OPERATION(work_group, GROUPED, T, and, AND, ONES)                                                                  \
    OPERATION(work_group, GROUPED, T, or, OR, 0)                                                                       \
    OPERATION(work_group, GROUPED, T, xor, XOR, 0)

MORE_OPERATIONS(int, ~0)
MORE_OPERATIONS(uint, ~0u)
MORE_OPERATIONS(long, ~0l)
MORE_OPERATIONS(ulong, ~0ul)
OPERATION(work_group, GROUPED, half, mul, MUL, 1)
OPERATION(work_group, GROUPED, float, mul, MUL, 1)
OPERATION(work_group, GROUPED, double, mul, MUL, 1)
OPERATION(work_group, GROUPED, int, logical_and, LOGICAL_AND, 1)
OPERATION(work_group, GROUPED, int, logical_or, LOGICAL_OR, 0)
OPERATION(work_group, GROUPED, int, logical_xor, LOGICAL_XOR, 0)

#define PREDICATES(PREFIX, WHICH)                                                                                      \
    BUILTIN int PREFIX##_all(int x) {                                                                                  \
        __private const int *values = EXCHANGE(int, x, WHICH + REPEATABLE_and);                                        \
        FOLD(int, LOGICAL_AND, 0, PREFIX##_count(), 1)                                                                 \
    }                                                                                                                  \
    BUILTIN int PREFIX##_any(int x) {                                                                                  \
        __private const int *values = EXCHANGE(int, x, WHICH);                                                         \
        FOLD(int, LOGICAL_OR, 0, PREFIX##_count(), 0)                                                                  \
    }

PREDICATES(work_group, GROUPED)
PREDICATES(sub_group, SUB_GROUPED)

/* An index that no work-item has yields this work-item's own value: any value will do, but nothing else may be read. */
#define PICK(T, INDEX, COUNT)                                                                                          \
    ulong index = INDEX;                                                                                               \
    return index < COUNT ? values[index] : x;

#define BROADCASTS(T)                                                                                                  \
    BUILTIN T work_group_broadcast(T x, size_t a) {                                                                    \
        __private const T *values = EXCHANGE(T, x, GROUPED);                                                           \
        PICK(T, a, work_group_count())                                                                                 \
    }                                                                                                                  \
    BUILTIN T work_group_broadcast(T x, size_t a, size_t b) {                                                          \
        __private const T *values = EXCHANGE(T, x, GROUPED);                                                           \
        PICK(T, b * get_local_size(0) + a, work_group_count())                                                      \
    }                                                                                                                  \
    BUILTIN T work_group_broadcast(T x, size_t a, size_t b, size_t c) {                                                \
        __private const T *values = EXCHANGE(T, x, GROUPED);                                                           \
        PICK(T, (c * get_local_size(1) + b) * get_local_size(0) + a, work_group_count())                         \
    }

FOR_SCALARS(BROADCASTS)

/* Exchanges within the sub-group; also of vectors (cl_khr_subgroup_extended_types), and under Intel's names. */

#define SUB_GROUP_INDEXED(NAME, T, SECOND, INDEX)                                                                      \
    BUILTIN T NAME(T x, SECOND by) {                                                                                   \
        __private const T *values = EXCHANGE(T, x, SUB_GROUPED);                                                       \
        PICK(T, INDEX, sub_group_count())                                                                              \
    }

#define SHUFFLES(T)                                                                                                    \
    SUB_GROUP_INDEXED(sub_group_broadcast, T, uint, by)                                                                \
    SUB_GROUP_INDEXED(sub_group_non_uniform_broadcast, T, uint, by)                                                    \
    SUB_GROUP_INDEXED(sub_group_shuffle, T, uint, by)                                                                  \
    SUB_GROUP_INDEXED(sub_group_shuffle_xor, T, uint, sub_group_rank() ^ by)                                           \
    SUB_GROUP_INDEXED(sub_group_shuffle_up, T, uint, (uint)(sub_group_rank() - by))                                    \
    SUB_GROUP_INDEXED(sub_group_shuffle_down, T, uint, (ulong)sub_group_rank() + by)                                   \
    SUB_GROUP_INDEXED(intel_sub_group_shuffle, T, uint, by)                                                            \
    SUB_GROUP_INDEXED(intel_sub_group_shuffle_xor, T, uint, sub_group_rank() ^ by)                                     \
    BUILTIN T intel_sub_group_shuffle_down(T x, T next, uint by) {                                                     \
        typedef struct { T of[2]; } pair;                                                                              \
        pair mine = {{x, next}};                                                                                       \
        __private const pair *values = EXCHANGE(pair, mine, SUB_GROUPED);                                              \
        ulong index = (ulong)sub_group_rank() + by, count = sub_group_count();                                         \
        return index < count ? values[index].of[0] : index < 2 * count ? values[index - count].of[1] : next;           \
    }                                                                                                                  \
    BUILTIN T intel_sub_group_shuffle_up(T before, T x, uint by) {                                                     \
        typedef struct { T of[2]; } pair;                                                                              \
        pair mine = {{before, x}};                                                                                     \
        __private const pair *values = EXCHANGE(pair, mine, SUB_GROUPED);                                              \
        long index = (long)sub_group_rank() - (long)by, count = sub_group_count();                                     \
        return index >= 0 ? values[index].of[1] : index >= -count ? values[index + count].of[0] : before;              \
    }

/* Clusters whose size is a power of two, and rotation (cl_khr_subgroup_clustered_reduce, cl_khr_subgroup_rotate). */

#define CLUSTERED(T, NAME, OP)                                                                                         \
    BUILTIN T sub_group_clustered_reduce_##NAME(T x, uint size) {                                                      \
        __private const T *values = EXCHANGE(T, x, SUB_GROUPED);                                                       \
        uint first = sub_group_rank() & ~(size - 1), count = sub_group_count();                                        \
        uint last = first + size < count ? first + size : count;                                                       \
        FOLD(T, OP, first + 1, last, values[first])                                                                    \
    }
#define ROTATED(T)                                                                                                     \
    CLUSTERED(T, add, ADD)                                                                                             \
    CLUSTERED(T, mul, MUL)                                                                                             \
    CLUSTERED(T, min, MIN)                                                                                             \
    CLUSTERED(T, max, MAX)                                                                                             \
    BUILTIN T sub_group_rotate(T x, int by) {                                                                          \
        __private const T *values = EXCHANGE(T, x, SUB_GROUPED);                                                       \
        long count = sub_group_count(), from = ((long)sub_group_rank() + by) % count;                                  \
        return values[from < 0 ? from + count : from];                                                                 \
    }                                                                                                                  \
    BUILTIN T sub_group_clustered_rotate(T x, int by, uint size) {                                                     \
        __private const T *values = EXCHANGE(T, x, SUB_GROUPED);                                                       \
        uint first = sub_group_rank() & ~(size - 1);                                                                   \
        PICK(T, first + ((sub_group_rank() + (uint)by) & (size - 1)), sub_group_count())                               \
    }                                                                                                                  \
    BUILTIN T sub_group_broadcast_first(T x) {                                                                         \
        __private const T *values = EXCHANGE(T, x, SUB_GROUPED);                                                       \
        return values[0];                                                                                              \
    }
FOR_SCALARS(ROTATED)

#define CLUSTERED_BITS(T) CLUSTERED(T, and, AND) CLUSTERED(T, or, OR) CLUSTERED(T, xor, XOR)
FOR_INTEGERS(CLUSTERED_BITS)
CLUSTERED(int, logical_and, LOGICAL_AND)
CLUSTERED(int, logical_or, LOGICAL_OR)
CLUSTERED(int, logical_xor, LOGICAL_XOR)

#define ALL_SHUFFLES(T) SHUFFLES(T) SHUFFLES(T##2) SHUFFLES(T##3) SHUFFLES(T##4) SHUFFLES(T##8) SHUFFLES(T##16)

FOR_SCALARS(ALL_SHUFFLES)

/* cl_khr_subgroup_ballot, if all work-items take part. A ballot has 128 bits; sub-groups have at most 64 work-items. */

INNER uint4 ballot_of(ulong bits) { return (uint4)((uint)bits, (uint)(bits >> 32), 0, 0); }
INNER ulong bits_of(uint4 ballot) { return (ulong)ballot.s1 << 32 | ballot.s0; }
/* The bits of the work-items before this one. */
INNER ulong before(void) { return (1ul << sub_group_rank()) - 1; }
INNER ulong up_to(void) { return (2ul << sub_group_rank()) - 1; }
INNER ulong taking_part(void) { return (2ul << (sub_group_count() - 1)) - 1; }
INNER ulong bits_taking_part(uint4 ballot) { return bits_of(ballot) & taking_part(); }

BUILTIN uint4 sub_group_ballot(int predicate) {
    __private const int *values = EXCHANGE(int, predicate, SUB_GROUPED);
    ulong bits = 0;
    for (uint i = 0; i < sub_group_count(); i++) {
        bits |= (ulong)(values[i] != 0) << i;
    }
    return ballot_of(bits);
}

BUILTIN int sub_group_elect(void) { return sub_group_rank() == 0; }
BUILTIN int sub_group_inverse_ballot(uint4 value) { return bits_of(value) >> sub_group_rank() & 1; }
BUILTIN int sub_group_ballot_bit_extract(uint4 value, uint index) {
    uint word = index / 32 == 0 ? value.s0 : index / 32 == 1 ? value.s1 : index / 32 == 2 ? value.s2 : value.s3;
    return index < 128 ? word >> index % 32 & 1 : 0;
}
BUILTIN uint sub_group_ballot_bit_count(uint4 value) { return (uint)__builtin_popcountl(bits_taking_part(value)); }
BUILTIN uint sub_group_ballot_inclusive_scan(uint4 value) { return (uint)__builtin_popcountl(bits_of(value) & up_to()); }
BUILTIN uint sub_group_ballot_exclusive_scan(uint4 value) { return (uint)__builtin_popcountl(bits_of(value) & before()); }
BUILTIN uint sub_group_ballot_find_lsb(uint4 value) {
    ulong bits = bits_taking_part(value);
    return bits ? (uint)__builtin_ctzl(bits) : 0;
}
BUILTIN uint sub_group_ballot_find_msb(uint4 value) {
    ulong bits = bits_taking_part(value);
    return bits ? 63 - (uint)__builtin_clzl(bits) : 0;
}
BUILTIN uint4 get_sub_group_eq_mask(void) { return ballot_of(1ul << sub_group_rank()); }
BUILTIN uint4 get_sub_group_ge_mask(void) { return ballot_of(taking_part() & ~before()); }
BUILTIN uint4 get_sub_group_gt_mask(void) { return ballot_of(taking_part() & ~up_to()); }
BUILTIN uint4 get_sub_group_le_mask(void) { return ballot_of(up_to()); }
BUILTIN uint4 get_sub_group_lt_mask(void) { return ballot_of(before()); }
