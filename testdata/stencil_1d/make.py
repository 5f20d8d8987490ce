"""Writes this folder's .npy files (run it here): integers and weights that are multiples of 1/8, so that sums are exact."""

import numpy as np

weight = np.array([0.125, 0.25, 0.5, 1.0, 0.5, 0.25, -0.125])


def stencil(field):
    padded = np.concatenate([np.zeros(3), field, np.zeros(3)])
    return np.array([np.dot(weight, padded[i : i + 7]) for i in range(len(field))])


rng = np.random.default_rng(21)
for name, length in [("full", 128), ("short", 100)]:
    field = rng.integers(-100, 101, length).astype(float)
    np.save(f"{name}_in.npy", field.astype(np.float32))
    np.save(f"{name}_out.npy", stencil(field).astype(np.float32))
