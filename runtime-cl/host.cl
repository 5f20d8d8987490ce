/* Builtins that kernels call in the simulator: those that LLVM's libclc lacks, or that have another meaning here. */

#include "host_ids.cl"

#include "host_sync.cl"

#include "host_collective.cl"

#include "host_warps.cl"

#include "host_atomics.cl"

#include "host_pointers.cl"

#include "host_images.cl"

#include "host_half.cl"

#include "host_numbers.cl"
