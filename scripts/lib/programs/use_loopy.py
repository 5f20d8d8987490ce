"""loopy makes kernels of loop nests: tiles, guards of sizes that are no multiples, scans, reductions."""

import logging
import warnings

import loopy
import numpy as np
import pyopencl
import pyopencl.array
from checked import say
from loopy.version import LOOPY_USE_LANGUAGE_VERSION_2018_2  # noqa: F401 (loopy looks for the name)

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
context = pyopencl.create_some_context(interactive=False)
queue = pyopencl.CommandQueue(context)
draw = np.random.default_rng(11)
REAL = np.float32

a, b = draw.random((37, 53), dtype=REAL), draw.random((53, 29), dtype=REAL)
product = loopy.make_kernel("{[i,j,k]: 0<=i<n and 0<=j<m and 0<=k<l}", "c[i,j] = sum(k, a[i,k]*b[k,j])", name="matrix_product")
product = loopy.add_and_infer_dtypes(product, {"a": REAL, "b": REAL})
product = loopy.split_iname(product, "i", 8, outer_tag="g.0", inner_tag="l.1")
product = loopy.split_iname(product, "j", 8, outer_tag="g.1", inner_tag="l.0")
say("product", product(queue, a=a, b=b)[1][0], a @ b)
tiled = loopy.split_iname(product, "k", 8)
tiled = loopy.add_prefetch(tiled, "a", ["i_inner", "k_inner"], default_tag="l.auto")
tiled = loopy.add_prefetch(tiled, "b", ["j_inner", "k_inner"], default_tag="l.auto")
tiled = loopy.add_inames_for_unused_hw_axes(tiled)
say("tiled product", tiled(queue, a=a, b=b)[1][0], a @ b)

n = 45
old = draw.random((n, n), dtype=REAL)
new = pyopencl.array.zeros(queue, (n, n), REAL)
square = [loopy.GlobalArg(name, REAL, shape="n,n") for name in ("old", "new")] + [loopy.ValueArg("n", np.int32)]
stencil = loopy.make_kernel("{[i,j]: 1<=i,j<n-1}", "new[i,j] = old[i-1,j] + old[i+1,j] + old[i,j-1] + old[i,j+1] {inames=i:j}", square, name="stencil")
stencil = loopy.split_iname(stencil, "i", 16, outer_tag="g.1", inner_tag="l.1")
stencil = loopy.split_iname(stencil, "j", 16, outer_tag="g.0", inner_tag="l.0")
stencil(queue, old=pyopencl.array.to_device(queue, old), new=new, n=np.int32(n))
expected = np.zeros_like(old)
expected[1:-1, 1:-1] = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
say("stencil", new.get(), expected)

x = draw.integers(0, 50, 301).astype(np.int32)
prefix = loopy.make_kernel("[n] -> {[i,j]: 0<=i<n and 0<=j<=i}", "y[i] = sum(j, x[j])", name="prefix")
prefix = loopy.split_iname(loopy.add_and_infer_dtypes(prefix, {"x": np.int32}), "i", 32, outer_tag="g.0", inner_tag="l.0")
say("prefix sums", prefix(queue, x=x)[1][0], np.cumsum(x))

scan = loopy.make_kernel("{[i,j]: 0<=i<n and 0<=j<=i}", "y[i] = reduce(sum, j, x[j])",
                         [loopy.GlobalArg("x", np.int32, shape="n"), loopy.GlobalArg("y", np.int32, shape="n"), ...], name="local_scan")
scan = loopy.tag_inames(loopy.fix_parameters(scan, n=64), {"i": "l.0"})
scan = loopy.realize_reduction(scan, force_scan=True)
say("scan in local memory", scan(queue, x=x[:64].copy())[1][0], np.cumsum(x[:64]))

v, w = (draw.random(1003, dtype=REAL) for _ in range(2))
dot = loopy.make_kernel("{[i]: 0<=i<n}", "s = sum(i, v[i]*w[i])", name="dot_product")
dot = loopy.add_and_infer_dtypes(loopy.fix_parameters(dot, n=1003), {"v": REAL, "w": REAL})
dot = loopy.split_reduction_outward(loopy.split_iname(dot, "i", 64, inner_tag="l.0"), "i_inner")
say("dot product", dot(queue, v=v, w=w)[1][0], v @ w)

d = draw.random((41, 41))
branches = loopy.make_kernel("{[i,j]: 0<=i,j<n}", ["<> t = d[i,j]", "e[j,i] = if(t > 0.5, exp(t), -t)"], name="branches")
branches = loopy.add_and_infer_dtypes(loopy.fix_parameters(branches, n=41), {"d": np.float64})
branches = loopy.split_iname(branches, "j", 16, inner_tag="l.0", slabs=(0, 1))
branches = loopy.split_iname(branches, "i", 4, outer_tag="g.0", inner_tag="unr")
say("branches", branches(queue, d=d)[1][0], np.where(d > 0.5, np.exp(d), -d).T)
