/* Barriers, fences and copies by the group (OpenCL C 3.0, 6.15.8 to 6.15.11), as placeholders that instrumentation fills in. */

#include "host.h"

#define LOCAL_FENCE 1
#define GLOBAL_FENCE 2

BUILTIN void barrier(cl_mem_fence_flags flags) { __kassay_at_barrier((int)flags, memory_scope_work_group); }

BUILTIN void work_group_barrier(cl_mem_fence_flags flags) { __kassay_at_barrier((int)flags, memory_scope_work_group); }

BUILTIN void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __kassay_at_barrier((int)flags, (int)scope); }

/* A barrier of a sub-group sets bit 31 of the flags. */
#define OF_SUB_GROUP ((int)0x80000000)

BUILTIN void sub_group_barrier(cl_mem_fence_flags flags) { __kassay_at_barrier((int)flags | OF_SUB_GROUP, memory_scope_sub_group); }

BUILTIN void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
    __kassay_at_barrier((int)flags | OF_SUB_GROUP, (int)scope);
}

/* CUDA's barrier of all groups of a launch sets bit 30 of the flags; devices have it where the launch has one group. */
#define OF_GRID 0x40000000

BUILTIN void kassay_grid_barrier(cl_mem_fence_flags flags) { __kassay_at_barrier((int)flags | OF_GRID, memory_scope_device); }

/* The fences of OpenCL C 1.x: they order a work-item's own accesses as its group sees them. */
BUILTIN void mem_fence(cl_mem_fence_flags flags) { __kassay_at_fence((int)flags, memory_order_acq_rel, memory_scope_work_group); }

BUILTIN void read_mem_fence(cl_mem_fence_flags flags) { __kassay_at_fence((int)flags, memory_order_acquire, memory_scope_work_group); }

BUILTIN void write_mem_fence(cl_mem_fence_flags flags) { __kassay_at_fence((int)flags, memory_order_release, memory_scope_work_group); }

BUILTIN void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
    __kassay_at_fence((int)flags, (int)order, (int)scope);
}

/* Copies: elements of T, of which a 3-vector has the size of four components. */

/* Through a generic pointer, from which the object that it points to can still be determined. */
#define TO(P) ((__private void *)(__generic void *)(P))
#define FROM(P) ((__private const void *)(__generic const void *)(P))

#define COPIES(T)                                                                                                      \
    BUILTIN event_t async_work_group_copy(__local T *to, __global const T *from, size_t count, event_t event) {        \
        return __kassay_at_async_copy(TO(to), FROM(from), count, sizeof(T), 1, 1, event);                              \
    }                                                                                                                  \
    BUILTIN event_t async_work_group_copy(__global T *to, __local const T *from, size_t count, event_t event) {        \
        return __kassay_at_async_copy(TO(to), FROM(from), count, sizeof(T), 1, 1, event);                              \
    }                                                                                                                  \
    BUILTIN event_t async_work_group_strided_copy(__local T *to, __global const T *from, size_t count, size_t stride,  \
                                                  event_t event) {                                                     \
        return __kassay_at_async_copy(TO(to), FROM(from), count, sizeof(T), 1, stride, event);                         \
    }                                                                                                                  \
    BUILTIN event_t async_work_group_strided_copy(__global T *to, __local const T *from, size_t count, size_t stride,  \
                                                  event_t event) {                                                     \
        return __kassay_at_async_copy(TO(to), FROM(from), count, sizeof(T), stride, 1, event);                         \
    }                                                                                                                  \
    BUILTIN void prefetch(__global const T *from, size_t count) {}

#define ALL_COPIES(T) COPIES(T) COPIES(T##2) COPIES(T##3) COPIES(T##4) COPIES(T##8) COPIES(T##16)

FOR_SCALARS(ALL_COPIES)

/* A negative number of events counts as none. */
#define WAITED(COUNT) ((COUNT) < 0 ? 0UL : (ulong)(COUNT))

BUILTIN void wait_group_events(int count, __private event_t *events) { __kassay_at_wait(events, WAITED(count)); }

/* Lists in other address spaces: through a generic pointer, as above. */
#define LISTS(SPACE)                                                                                                   \
    BUILTIN void wait_group_events(int count, SPACE event_t *events) {                                                 \
        __kassay_at_wait((__private const event_t *)(__generic const event_t *)events, WAITED(count));                 \
    }

LISTS(__local)
LISTS(__global)
LISTS(__generic)
