// Counts the peaks of each row, and sums the heights up to a limit.
//
// Fixture: lines of two files in one module, a macro, a short-circuit condition, a loop. peaks.spvasm is this kernel with debug
// information by clang 15 and llvm-spirv 15:
//   clang-15 -x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -O0 -g -emit-llvm -c peaks.cl -o peaks.bc
//   llvm-spirv-15 peaks.bc -o peaks.spv && spirv-dis peaks.spv -o peaks.spvasm
// The tests take that information away from it, but for OpString and OpLine.

#include "clip.h"

#define IS_PEAK(a, b, c) ((b) > (a) && (b) > (c))

__kernel void peaks(__global const int *heights, __global int *counts, __global int *sums, const int width)
{
    const int row = get_global_id(0);
    __global const int *at = heights + row * width;
    int count = 0;
    int sum = 0;
    for (int i = 1; i + 1 < width; ++i) {
        if (IS_PEAK(at[i - 1], at[i], at[i + 1])) {
            ++count;
            sum += clip(at[i]);
        }
    }
    counts[row] = count;
    sums[row] = sum;
}
