"""Writes this folder's .npy files (run it here): small integers, so that every sum is exact."""

import numpy as np

np.save("eye16.npy", np.eye(16, dtype=np.float32))
rng = np.random.default_rng(12)
a = rng.integers(-8, 9, (24, 24))
b = rng.integers(-8, 9, (24, 24))
np.save("a24.npy", a.astype(np.float32))
np.save("b24.npy", b.astype(np.float32))
np.save("c24.npy", (a @ b).astype(np.float32))
