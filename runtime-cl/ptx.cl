/* Builtins that kernels call on NVIDIA GPUs: those that LLVM's libclc for NVPTX lacks or leaves open. Compiled for the target of the
 * kernels under test, like the simulator's, of which this takes over what does not depend on its contexts; lowering retargets them with
 * the kernel. */

/* A warp. */
#define SUB_GROUP 32u

/* `host_numbers.cl` */
#define NO_C_LIBRARY

#include "ptx_ids.cl"

#include "ptx_sync.cl"

#include "host_sync.cl"

#include "host_collective.cl"

#include "host_atomics.cl"

#include "host_half.cl"

#include "ptx_numbers.cl"

#include "host_numbers.cl"
