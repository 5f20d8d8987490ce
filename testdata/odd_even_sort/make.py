"""Writes this folder's .npy files (run it here)."""

import numpy as np

rng = np.random.default_rng(42)
keys = rng.integers(-500, 500, 60).astype(np.int32)
np.save("keys.npy", keys)
np.save("sorted.npy", np.concatenate([np.sort(keys[:32]), np.sort(keys[32:])]))
