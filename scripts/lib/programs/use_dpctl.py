"""Kernels of dpctl's tensors: element-wise, reductions, scans, sorting, indexing."""

import dpctl
import numpy as np
from checked import say

try:
    import dpctl.tensor as dpt
except ImportError:  # of later versions
    import dpnp.tensor as dpt

queue = dpctl.SyclQueue("opencl:cpu")
draw = np.random.default_rng(6)
a, b = (draw.random((19, 31), dtype=np.float32) for _ in range(2))
i = draw.integers(0, 500, 333).astype(np.int32)
A, B, I = (dpt.asarray(values, sycl_queue=queue) for values in (a, b, i))


def check(name, got, expected):
    say(name, dpt.asnumpy(got), expected)


check("multiply and add", A * B + A, a * b + a)
check("where", dpt.where(A > B, A, -B), np.where(a > b, a, -b))
check("sum of columns", dpt.sum(A, axis=0), a.sum(0))
check("sum of all", dpt.sum(I), i.sum())
check("argmin", dpt.argmin(I), i.argmin())
check("any", dpt.any(A > 0.99, axis=1), (a > 0.99).any(1))
check("cumulative sum", dpt.cumulative_sum(I), np.cumsum(i))
check("sort", dpt.sort(I), np.sort(i))
check("mask", I[I > 250], i[i > 250])
check("matrix product", dpt.matmul(A, B.T), a @ b.T)
check("range", dpt.arange(3, 50, 4, sycl_queue=queue), np.arange(3, 50, 4))
