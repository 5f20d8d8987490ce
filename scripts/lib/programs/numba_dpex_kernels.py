"""Kernels that numba-dpex compiles from Python, beside those of the dpnp and dpctl that it needs, which DPC++ 2024 compiled."""

import dpnp
import numba_dpex
import numpy as np
from checked import say
from numba_dpex import kernel_api


@numba_dpex.kernel
def clipped(item: kernel_api.Item, a, b, c):
    i = item.get_id(0)
    if a[i] > 5.0:
        c[i] = a[i] + b[i]
    elif b[i] > 3.0:
        c[i] = b[i]
    else:
        c[i] = 0.0


@numba_dpex.kernel
def smoothed(item: kernel_api.NdItem, x, y, part):
    group = item.get_group()
    l = item.get_local_id(0)
    i = item.get_global_id(0)
    part[l] = x[i]
    kernel_api.group_barrier(group)
    total = part[l]
    if l > 0:
        total += part[l - 1]
    if l < item.get_local_range(0) - 1:
        total += part[l + 1]
    y[i] = total


n = 1000
a, b = (np.arange(n, dtype=np.float32) % 11, np.arange(n, dtype=np.float32) % 7)
c = dpnp.zeros(n, dtype=dpnp.float32)
numba_dpex.call_kernel(clipped, kernel_api.Range(n), dpnp.asarray(a), dpnp.asarray(b), c)
say("clipped", dpnp.asnumpy(c), np.where(a > 5, a + b, np.where(b > 3, b, 0)))
say("sum", dpnp.asnumpy(dpnp.sum(c)), np.where(a > 5, a + b, np.where(b > 3, b, 0)).sum())

x = np.arange(512, dtype=np.float32)
y = dpnp.zeros(512, dtype=dpnp.float32)
part = kernel_api.LocalAccessor(64, dtype=dpnp.float32)
numba_dpex.call_kernel(smoothed, kernel_api.NdRange((512,), (64,)), dpnp.asarray(x), y, part)
rows = np.pad(x.reshape(-1, 64), ((0, 0), (1, 1)))
say("smoothed", dpnp.asnumpy(y), (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]).ravel())
