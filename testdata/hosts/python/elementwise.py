"""Kernels that pyopencl generates: an elementwise operation, a reduction and a prefix sum of its own algorithms.

Kernels: damped, 3 launches, by ElementwiseKernel; beside it what pyopencl makes for the reduction and the prefix sum, whose names
and numbers depend on its version.
Special: no kernel has a text in this program; arrays free and reuse memory through pyopencl's pool.
"""

import pyopencl.array
import pyopencl.elementwise
import pyopencl.reduction
import pyopencl.scan
import pyopencl.tools

from opened import cl, context_and_queue, np, require

context, queue = context_and_queue()
pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
damped = cl.elementwise.ElementwiseKernel(
    context, "int *x, const int *v, int friction", "x[i] += v[i] > 0 ? v[i] - friction : v[i] + friction", name="damped")
largest = cl.reduction.ReductionKernel(
    context, np.int32, neutral="-2147483647 - 1", reduce_expr="max(a, b)", map_expr="x[i] * x[i]", arguments="const int *x")
running = cl.scan.InclusiveScanKernel(context, np.int32, "a + b", neutral="0")

random = np.random.default_rng(1)
x, v = random.integers(-1000, 1000, 3000, dtype=np.int32), random.integers(-50, 50, 3000, dtype=np.int32)
on_x, on_v = cl.array.to_device(queue, x, allocator=pool), cl.array.to_device(queue, v, allocator=pool)
for friction in (1, 5, 20):
    damped(on_x, on_v, np.int32(friction))
    x += np.where(v > 0, v - friction, v + friction).astype(np.int32)
require((on_x.get() == x).all(), "damped")
require(largest(on_x).get() == (x * x).max(), "the largest square")
running(on_x)
require((on_x.get() == np.cumsum(x, dtype=np.int32)).all(), "the running sum")
print("elementwise: right")
