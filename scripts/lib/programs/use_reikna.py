"""reikna's computations: Fourier transforms, reductions, scans, linear algebra and one of its own."""

import numpy as np
import reikna.cluda
from checked import say
from reikna.algorithms import PureParallel, Reduce, Scan, Transpose, predicate_sum
from reikna.core import Annotation, Parameter
from reikna.fft import FFT
from reikna.linalg import EntrywiseNorm, MatrixMul

thread = reikna.cluda.ocl_api().Thread.create()
draw = np.random.default_rng(3)


def run(computation, out, *inputs):
    result = thread.empty_like(out)
    computation.compile(thread)(result, *map(thread.to_device, inputs))
    return result.get()


for shape, axes in (((7, 64), (1,)), ((3, 50), (1,)), ((32, 48), (0, 1))):
    waves = (draw.random(shape) + 1j * draw.random(shape)).astype(np.complex64)
    say(f"transform {shape}", run(FFT(waves, axes=axes), waves, waves), np.fft.fftn(waves, axes=axes), 1e-2)
numbers = draw.integers(0, 100, (13, 777)).astype(np.int32)
add = predicate_sum(np.int32)
rows = Reduce(numbers, add, axes=(1,))
say("sums of rows", run(rows, rows.parameter.output, numbers), numbers.sum(1))
total = Reduce(numbers, add)
say("sum", run(total, total.parameter.output, numbers), numbers.sum())
say("scans of rows", run(Scan(numbers, add, axes=(1,), exclusive=False), numbers, numbers), np.cumsum(numbers, 1))
line = numbers.ravel()
say("long scan", run(Scan(line, add, exclusive=True, max_work_group_size=64), line, line), np.cumsum(line) - line)
cube = draw.random((5, 33, 21), dtype=np.float32)
turned = Transpose(cube, axes=(2, 0, 1))
say("transpose", run(turned, turned.parameter.output, cube), cube.transpose(2, 0, 1))
a, b = draw.random((45, 67), dtype=np.float32), draw.random((67, 23), dtype=np.float32)
product = MatrixMul(a, b)
say("matrix product", run(product, product.parameter.output, a, b), a @ b)
norm = EntrywiseNorm(a, order=2)
say("norm", run(norm, norm.parameter.output, a), np.sqrt((a.astype(np.float64) ** 2).sum()))
own = PureParallel([Parameter("out", Annotation(a, "o")), Parameter("x", Annotation(a, "i"))], """
    VSIZE_T row = ${idxs[0]}, column = ${idxs[1]};
    float value = ${x.load_idx}(row, column);
    ${out.store_idx}(row, column, column % 3 == 0 ? value * 2 : value + row);
""")
say("own", run(own, a, a), np.where(np.arange(67) % 3 == 0, a * 2, a + np.arange(45)[:, None]))
