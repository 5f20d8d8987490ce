"""kernel_tuner compiles variants of a kernel, runs each several times and keeps the fastest."""

import contextlib
import io

import numpy as np
from kernel_tuner import tune_kernel

ADD = """
__kernel void add(__global float *c, __global const float *a, __global const float *b, int n) {
    int first = get_global_id(0) * per_item;
    for (int k = 0; k < per_item; k++)
        if (first + k < n)
            c[first + k] = a[first + k] + b[first + k];
}
"""
TOTAL = """
__kernel void total(__global float *sums, __global const float *x, int n) {
    __local float partial[block_size_x];
    int l = get_local_id(0);
    float sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i];
    partial[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
#if tree
    for (int half_size = block_size_x / 2; half_size > 0; half_size >>= 1) {
        if (l < half_size)
            partial[l] += partial[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    if (l == 0)
        for (int i = 1; i < block_size_x; i++)
            partial[0] += partial[i];
#endif
    if (l == 0)
        sums[get_group_id(0)] = partial[0];
}
"""
TURN = """
__kernel void turn(__global int *out, __global const int *in, int width, int height) {
    __local int tile[block_size_y][block_size_x + padding];
    int x = get_global_id(0), y = get_global_id(1);
    bool inside = x < width && y < height;
    if (inside)
        tile[get_local_id(1)][get_local_id(0)] = in[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside)
        out[x * height + y] = tile[get_local_id(1)][get_local_id(0)];
}
"""


def tune(name, text, size, arguments, parameters, **rest):
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = tune_kernel(name, text, size, arguments, parameters, lang="OpenCL", iterations=2, quiet=True, atol=1e-3, **rest)
    right = [result for result in results if isinstance(result["time"], float)]
    print(name, len(right), "of", len(results), "variants are right")


draw = np.random.default_rng(2)
a, b = (draw.random(5003, dtype=np.float32) for _ in range(2))
n = np.int32(a.size)
tune("add", ADD, a.size, [np.zeros_like(a), a, b, n], {"block_size_x": [32, 64, 128], "per_item": [1, 2, 3]},
     answer=[a + b, None, None, None], grid_div_x=["block_size_x", "per_item"])
sums = np.zeros(64, dtype=np.float32)
tune("total", TOTAL, 1024, [sums, a, n], {"block_size_x": [32, 64, 256], "tree": [0, 1]}, answer=[sums, None, None],
     verify=lambda _, got, atol: abs(float(got[0].sum()) - float(a.sum())) < 0.1)
width, height = 77, 35
numbers = draw.integers(0, 1000, (height, width)).astype(np.int32)
tune("turn", TURN, (width, height), [np.zeros(numbers.size, dtype=np.int32), numbers.ravel(), np.int32(width), np.int32(height)],
     {"block_size_x": [8, 16], "block_size_y": [4, 8], "padding": [0, 1]}, answer=[numbers.T.ravel(), None, None, None])
