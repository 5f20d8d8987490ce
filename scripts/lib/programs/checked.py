"""What the programs beside this file compare with numpy's results and print, the same in each run."""

import numpy as np


def say(name, got, expected, tolerance=1e-3):
    """Prints whether an array is as expected, its first values and its sum."""
    got, expected = np.asarray(got), np.asarray(expected)
    right = got.shape == expected.shape and np.allclose(got, expected, rtol=tolerance, atol=tolerance)
    values = np.abs(got.astype(np.complex128)).ravel()
    print(name, "right" if right else "WRONG", np.round(values[:3], 3).tolist(), round(float(values.sum()), 1))
