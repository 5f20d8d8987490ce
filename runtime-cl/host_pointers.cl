/* Pointers without an address space (OpenCL C 3.0, 6.15.10): which memory they point to shows when the kernel runs. */

#include "host.h"

#define MEMORY_OF(P) __kassay_at_memory((__private const void *)(P))

/* clang and the translators of SPIR-V call these, without mangling, for `to_global` and the like. */
#define TO_SPACE(SPACE, NAME, FLAGS)                                                                                   \
    __attribute__((always_inline)) SPACE void *NAME(__generic void *p) {                                               \
        return MEMORY_OF(p) == (FLAGS) ? (SPACE void *)p : (SPACE void *)0;                                            \
    }

TO_SPACE(__global, __to_global, GLOBAL_FENCE)
TO_SPACE(__local, __to_local, LOCAL_FENCE)
TO_SPACE(__private, __to_private, 0)

BUILTIN cl_mem_fence_flags get_fence(__generic void *p) { return (cl_mem_fence_flags)MEMORY_OF(p); }
BUILTIN cl_mem_fence_flags get_fence(__generic const void *p) { return (cl_mem_fence_flags)MEMORY_OF(p); }
