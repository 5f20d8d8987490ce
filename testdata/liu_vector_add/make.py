#!/usr/bin/env python3
"""Writes suite.toml: small whole numbers, so that results are exact."""

import random as dice
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "liu_vector_add.cl", "liu_vector_add", """LIU's kind of suite: five sizes of random input, some of which do not fill the last work-group.""")
for n, size, local in [(1, 16, 8), (24, 24, 8), (30, 32, 16), (61, 64, 16), (100, 112, 16)]:
    dice.seed(n)
    a = [float(dice.randint(-20, 20)) for _ in range(n)]
    b = [float(dice.randint(-20, 20)) for _ in range(n)]
    args = {"c": expect(fill(0.5, n), [p + q for p, q in zip(a, b)]), "a": values(a), "b": values(b), "n": n}
    suite.test(f"{n} elements", [size], args, local=[local])
suite.write()
