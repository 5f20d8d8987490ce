/* Everything that CUDA declares without an #include. */
#pragma once
#include <kassay/mathematics.h>

#include <assert.h>

#include <kassay/approximations.h>
#include <kassay/atomics.h>
#include <kassay/indices.h>
#include <kassay/integers.h>
#include <kassay/memory.h>
#include <kassay/rounding.h>
#include <kassay/simd.h>
#include <kassay/synchronisation.h>
#include <kassay/vectors.h>
#include <kassay/warps.h>

#include <kassay/host.h>
