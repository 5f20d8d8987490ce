/* On NVIDIA GPUs, what the builtins for barriers, fences, exchanges and copies by the group (`host_sync.cl`, `host_collective.cl`)
 * leave to their target. */

#include "host.h"

#define MEETING __attribute__((always_inline, convergent))

MEETING void kassay_ptx_barrier(uint id) __asm("llvm.nvvm.barrier.cta.sync.all");
MEETING void kassay_ptx_warp_barrier(uint lanes) __asm("llvm.nvvm.bar.warp.sync");
void kassay_ptx_fence_device(void) __asm("llvm.nvvm.membar.gl");
void kassay_ptx_fence_system(void) __asm("llvm.nvvm.membar.sys");

/* Local memory for an exchange, the only thing of this that lowering fills in: as much as the largest exchange of the kernel takes. */
__local uchar *__kassay_ptx_scratch(void);

/* `flags` as in `host_sync.cl`. */
#define OF_SUB_GROUP_BIT 0x80000000u

/* The lanes of this warp that are work-items. */
INNER uint lanes(void) { return get_sub_group_size() == SUB_GROUP ? ~0u : (1u << get_sub_group_size()) - 1; }

INNER void fence(int scope) {
    if (scope == memory_scope_all_svm_devices) {
        kassay_ptx_fence_system();
    } else if (scope == memory_scope_device) {
        kassay_ptx_fence_device();
    }
}

/* The form that is not aligned, because a mutant may get there with a part of a warp. PTX's barriers order the memory of those who take
 * part, so a fence is needed for others only. */
MEETING void __kassay_at_barrier(int flags, int scope) {
    fence(scope);
    if ((uint)flags & OF_SUB_GROUP_BIT) {
        kassay_ptx_warp_barrier(lanes());
    } else {
        kassay_ptx_barrier(0);
    }
    fence(scope);
}

__attribute__((always_inline)) void __kassay_at_fence(int flags, int order, int scope) {
    if (scope == memory_scope_all_svm_devices) {
        kassay_ptx_fence_system();
    } else {
        kassay_ptx_fence_device();
    }
}

INNER void copy_bytes(__private uchar *to, __private const uchar *from, ulong bytes) {
    for (ulong i = 0; i < bytes; i++) {
        to[i] = from[i];
    }
}

/* The first barrier lets everyone read what the exchange before this one left. Not inlined before lowering has seen how many bytes the
 * kernel's exchanges take. */
__attribute__((noinline, convergent)) __private void *__kassay_at_exchange(__private void *value, ulong bytes, int kind) {
    int sub_group = kind & 1;
    uint rank = (uint)get_local_linear_id();
    uint first = sub_group ? rank / SUB_GROUP * SUB_GROUP : 0;
    int flags = sub_group ? (int)OF_SUB_GROUP_BIT : 0;
    __private uchar *all = (__private uchar *)(__generic uchar *)__kassay_ptx_scratch() + first * bytes;
    __kassay_at_barrier(flags, memory_scope_work_group);
    copy_bytes(all + (rank - first) * bytes, (__private const uchar *)value, bytes);
    __kassay_at_barrier(flags, memory_scope_work_group);
    return all;
}

#define COPY_UNITS(T)                                                                                                  \
    for (ulong i = rank; i < count; i += all) {                                                                        \
        for (ulong k = 0; k < element / sizeof(T); k++) {                                                              \
            ((__private T *)to)[i * to_stride * (element / sizeof(T)) + k] =                                           \
                ((__private const T *)from)[i * from_stride * (element / sizeof(T)) + k];                              \
        }                                                                                                              \
    }

/* Every work-item copies its share. */
__attribute__((always_inline)) event_t __kassay_at_async_copy(__private void *to, __private const void *from, ulong count,
                                                              ulong element, ulong to_stride, ulong from_stride,
                                                              event_t event) {
    ulong rank = get_local_linear_id(), all = items();
    if (element % 4 == 0) {
        COPY_UNITS(uint)
    } else if (element % 2 == 0) {
        COPY_UNITS(ushort)
    } else {
        COPY_UNITS(uchar)
    }
    return event;
}

MEETING void __kassay_at_wait(__private const event_t *events, ulong count) {
    __kassay_at_barrier(0, memory_scope_work_group);
}
