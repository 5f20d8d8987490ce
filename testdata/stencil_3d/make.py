"""Writes this folder's .npy files (run it here). Axes: z, y, x."""

import numpy as np


def laplace(f):
    out = f.copy()
    c = f[1:-1, 1:-1, 1:-1]
    out[1:-1, 1:-1, 1:-1] = (
        f[:-2, 1:-1, 1:-1] + f[2:, 1:-1, 1:-1] + f[1:-1, :-2, 1:-1] + f[1:-1, 2:, 1:-1]
        + f[1:-1, 1:-1, :-2] + f[1:-1, 1:-1, 2:] - 6 * c
    )
    return out


rng = np.random.default_rng(23)
for name, shape in [("box", (6, 9, 11)), ("cube", (8, 8, 8))]:
    field = rng.integers(-1000, 1001, shape).astype(np.int32)
    np.save(f"{name}_in.npy", field)
    np.save(f"{name}_out.npy", laplace(field).astype(np.int32))
