/* Declarations that the files of the simulator's runtime (`host*.cl`) share: the contexts in memory, as in `lower::native::abi`, and the
 * placeholders that instrumentation fills in.
 *
 * These files are compiled for the target of the kernels under test, so that clang mangles their names like those in the
 * kernels' calls. Pointers always have an explicit address space. */

#ifndef KASSAY_HOST_H
#define KASSAY_HOST_H

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* Attributes of functions that kernels can call. */
#define BUILTIN __attribute__((overloadable, always_inline))
/* Attributes of functions that only builtins call. */
#define INNER static inline __attribute__((overloadable, always_inline))

/* `abi::GroupContext`. */
struct kassay_group {
    ulong extents;
    ulong local_base;
    ulong sink;
    ulong dimensions;
    ulong global_size[3];
    ulong local_size[3];
    ulong enqueued_local_size[3];
    ulong groups[3];
    ulong offset[3];
    ulong group_id[3];
    ulong sub_group;
};

/* `abi::ItemContext`. */
struct kassay_item {
    __private const struct kassay_group *group;
    long fuel;
    ulong local_id[3];
    ulong global_id[3];
    ulong local_linear_id;
    ulong host;
};

/* The number of work-items of a full sub-group, at most 64, unless another target says its own. */
#ifndef SUB_GROUP
#define SUB_GROUP ((uint)GROUP->sub_group)
#endif

/* `abi::ITEM` and `abi::placeholder`. */
__private struct kassay_item *__kassay_item_context(void);
void __kassay_at_barrier(int flags, int scope);
__private void *__kassay_at_exchange(__private void *value, ulong bytes, int kind);
ulong __kassay_at_warp(uint mask, int kind, ulong value, uint from);
void __kassay_at_fence(int flags, int order, int scope);
event_t __kassay_at_async_copy(__private void *destination, __private const void *source, ulong count, ulong element,
                               ulong destination_stride, ulong source_stride, event_t event);
int __kassay_at_memory(__private const void *address);
void __kassay_at_wait(__private const event_t *events, ulong count);

#define ITEM __kassay_item_context()
#define GROUP (__kassay_item_context()->group)

/* M(type) for every arithmetic scalar type. */
#define FOR_INTEGERS(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong)
#define FOR_SCALARS(M) FOR_INTEGERS(M) M(half) M(float) M(double)

/* M(N, ...) for every suffix of a vector type. */
#define VECTORS(M, ...) M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__) M(8, __VA_ARGS__) M(16, __VA_ARGS__)
#define WIDTHS(M, ...) M(, __VA_ARGS__) VECTORS(M, __VA_ARGS__)

/* M(space, ...) for every writable address space. */
#define WRITABLE(M, ...)                                                                                               \
    M(__private, __VA_ARGS__) M(__global, __VA_ARGS__) M(__local, __VA_ARGS__) M(__generic, __VA_ARGS__)

/* F(0), F(1) … for a vector's components. */
#define EACH_2(F) (F(0), F(1))
#define EACH_3(F) (F(0), F(1), F(2))
#define EACH_4(F) (F(0), F(1), F(2), F(3))
#define EACH_8(F) (F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7))
#define EACH_16(F)                                                                                                     \
    (F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(a), F(b), F(c), F(d), F(e), F(f))

#endif
