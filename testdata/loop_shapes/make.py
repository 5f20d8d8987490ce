"""Writes this folder's .npy files (run it here)."""

import numpy as np


def answer(value, known, rows):
    divisor = next((d for d in range(2, value) if value % d == 0), value)
    power = next(1 << k for k in range(32) if 1 << k >= value)
    pairs = sum(i * j <= value for i in range(1, rows + 1) for j in range(1, 11))
    return len(str(value)) * 1000000 + divisor * 10000 + power * 100 + pairs + known - bin(value).count("1")


np.save("out_five.npy", np.array([answer(v, 8, 5) for v in range(64)], np.int32))
np.save("out_none.npy", np.array([answer(v, -1, 0) for v in range(20, 36)], np.int32))
