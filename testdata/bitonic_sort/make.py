"""Writes this folder's .npy files (run it here)."""

import numpy as np

rng = np.random.default_rng(41)
keys = rng.integers(0, 2**32, 512, dtype=np.uint32)
keys[5] = keys[9]
np.save("keys.npy", keys)
np.save("rising.npy", np.sort(keys.reshape(4, 128), axis=1).reshape(-1))
falling = -np.sort(-keys.astype(np.int64).reshape(2, 256), axis=1).reshape(-1)
np.save("falling.npy", falling.astype(np.uint32))
