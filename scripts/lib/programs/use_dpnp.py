"""Kernels of dpnp, numpy's interface for SYCL."""

import dpnp
import numpy as np
from checked import say

device = "opencl:cpu"
draw = np.random.default_rng(9)
a = draw.random((23, 37), dtype=np.float32)
i = draw.integers(-50, 50, 501).astype(np.int64)
A, I = dpnp.array(a, device=device), dpnp.array(i, device=device)


def check(name, got, expected):
    say(name, dpnp.asnumpy(got), expected)


check("polynomial", A**2 - 3 * A + 1, a**2 - 3 * a + 1)
check("where", dpnp.where(A > 0.5, dpnp.sin(A), dpnp.cos(A)), np.where(a > 0.5, np.sin(a), np.cos(a)))
check("mean", A.mean(axis=1), a.mean(1))
check("variance", dpnp.var(A), a.var())
check("product", dpnp.prod(A[:2, :9]), a[:2, :9].prod())
check("cumulative sum", dpnp.cumsum(I), np.cumsum(i))
check("sort", dpnp.sort(I), np.sort(i))
check("clip", dpnp.clip(I, -10, 10), np.clip(i, -10, 10))
check("differences", dpnp.diff(I), np.diff(i))
check("histogram", dpnp.histogram(I, bins=7)[0], np.histogram(i, bins=7)[0])
check("counts", dpnp.bincount(I + 50), np.bincount(i + 50))
check("choose", dpnp.choose(dpnp.abs(I[:9]) % 2, [A[0, :9], A[1, :9]]), np.choose(abs(i[:9]) % 2, [a[0, :9], a[1, :9]]))
check("lower triangle", dpnp.tril(A), np.tril(a))
check("median", dpnp.median(I), np.median(i))
check("convolution", dpnp.convolve(A[0], A[1, :5]), np.convolve(a[0], a[1, :5]))
check("matrix product", dpnp.dot(A, A.T), a @ a.T)
check("Fourier transform", dpnp.fft.fft(A[3]), np.fft.fft(a[3]))
matrix = a[:5, :5] + 3 * np.eye(5, dtype=np.float32)
check("linear equations", dpnp.linalg.solve(dpnp.array(matrix, device=device), A[:5, 6]), np.linalg.solve(matrix, a[:5, 6]))
