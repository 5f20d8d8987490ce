#!/usr/bin/env python3
"""Writes suite.toml: random angles."""

import math
import random as dice
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, f32, fill, values

suite = Suite(
    __file__,
    "liu_sincos_manual.cl",
    "liu_sincos_manual",
    """LIU's kind of suite: two sizes of random input.""",
    tolerance={"abs": 1e-4},
)

for n, groups, local in [(20, 2, 8), (61, 3, 16)]:
    dice.seed(n)
    x = [f32(dice.uniform(-3, 3)) for _ in range(n)]
    size = groups * local
    parts = [[x[i] for i in range(n) if i % size // local == g] for g in range(groups)]
    args = {
        "x": values(x),
        "sines": expect(fill(9.0, groups), [sum(map(math.sin, part)) for part in parts]),
        "cosines": expect(fill(9.0, groups), [sum(map(math.cos, part)) for part in parts]),
        "n": n,
    }
    suite.test(f"{n} angles", [size], args, local=[local])
suite.write()
