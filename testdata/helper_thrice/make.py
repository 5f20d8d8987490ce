"""Writes this folder's .npy files (run it here)."""

import numpy as np


def steps(value, limit):
    path = [value]
    while path[-1] > 1 and len(path) <= limit:
        path.append(path[-1] // 2 if path[-1] % 2 == 0 else 3 * path[-1] + 1)
    return len(path) - 1


def results(values, limit):
    longest, total = [], []
    for v in values:
        first = steps(v, limit)
        best = max(first, steps(v + 1, limit))
        longest.append(best)
        total.append(first + (steps(v // 4, limit) if best == limit else 0))
    return longest, total


for limit in (12, 1000):
    longest, total = results(range(128), limit)
    np.save(f"longest_{limit}.npy", np.array(longest, np.uint32))
    np.save(f"sum_{limit}.npy", np.array(total, np.uint32))
