/* hipCUB: CUB under another name, which some programs give it back by `namespace cub = hipcub`. */
#pragma once
#ifdef KASSAY_COLLECTIVES
namespace hipcub = KASSAY_COLLECTIVES;
#else
#define KASSAY_COLLECTIVES hipcub
#include <kassay/cub.h>
#endif
