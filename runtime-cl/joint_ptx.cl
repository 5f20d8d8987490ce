/* `joint_runs.cl` for NVIDIA GPUs, with the builtins that it calls. It is compiled to PTX when kassay is built, because the driver takes
 * several times as long for OpenCL C. Work-groups have one dimension, in which the driver never divides a launch. */

#define get_group_id(D) ((size_t)__nvvm_read_ptx_sreg_ctaid_x())
#define get_local_id(D) ((size_t)__nvvm_read_ptx_sreg_tid_x())
#define get_local_size(D) ((size_t)__nvvm_read_ptx_sreg_ntid_x())
#define barrier(FLAGS) __syncthreads()
#define isnan(X) ((X) != (X))
#define isfinite(X) (__builtin_fabs(X) < __builtin_inf())
#define fabs(X) __builtin_fabs(X)
#define vload_half(OFFSET, FROM) __builtin_load_halff((FROM) + (OFFSET))

#include "joint_runs.cl"
