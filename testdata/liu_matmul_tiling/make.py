#!/usr/bin/env python3
"""Writes suite.toml: small whole numbers, so that sums are exact."""

import random as dice
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "liu_matmul_tiling.cl", "liu_matmul_tiling", """LIU's kind of suite: five sizes of random matrices, multiples of the tile and not.""")
for n in [1, 4, 8, 11, 16]:
    dice.seed(n)
    a = [dice.randint(-8, 8) for _ in range(n * n)]
    b = [dice.randint(-8, 8) for _ in range(n * n)]
    c = [float(sum(a[y * n + k] * b[k * n + x] for k in range(n))) for y in range(n) for x in range(n)]
    side = -(-n // 8) * 4
    args = {"c": expect(fill(0.5, n * n), c), "a": values(map(float, a)), "b": values(map(float, b)), "n": n}
    suite.test(f"{n} by {n}", [side, side], args, local=[4, 4])
suite.write()
