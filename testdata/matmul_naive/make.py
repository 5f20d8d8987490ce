"""Writes a.npy, b.npy and c.npy (run it in this folder): small integers, so that every sum is exact."""

import numpy as np

rng = np.random.default_rng(11)
rows, cols, inner = 10, 14, 12
a = rng.integers(-8, 9, (rows, inner))
b = rng.integers(-8, 9, (inner, cols))
c = a @ b + 0.5 * 4
np.save("a.npy", a.astype(np.float32))
np.save("b.npy", b.astype(np.float32))
np.save("c.npy", c.astype(np.float32))
