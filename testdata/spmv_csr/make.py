"""Writes this folder's .npy files (run it here): a random matrix of small integers with empty rows."""

import numpy as np

rng = np.random.default_rng(31)
rows, cols = 200, 150
dense = rng.integers(-9, 10, (rows, cols)) * (rng.random((rows, cols)) < 0.04)
dense[::7] = 0
x = rng.integers(-20, 21, cols)
row_start = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
at = np.nonzero(dense)
np.save("row_start.npy", row_start.astype(np.uint32))
np.save("column.npy", at[1].astype(np.uint32))
np.save("value.npy", dense[at].astype(np.float32))
np.save("x.npy", x.astype(np.float32))
np.save("y.npy", (dense @ x).astype(np.float32))
