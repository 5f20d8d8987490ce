/* What kernels call in the simulator: everything that LLVM's libclc lacks, or that has another meaning here. */

#include "host_ids.cl"

#include "host_sync.cl"

#include "host_collective.cl"

#include "host_atomics.cl"
