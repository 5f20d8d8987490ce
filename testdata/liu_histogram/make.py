#!/usr/bin/env python3
"""Writes suite.toml: counts."""

import random as dice
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "liu_histogram.cl", "liu_histogram", """LIU's kind of suite: three sizes of random input: fewer elements than work-items, as many, and more.""")
for n, groups, local in [(11, 2, 8), (32, 2, 16), (90, 3, 4)]:
    dice.seed(n)
    data = [dice.randint(0, 63) for _ in range(n)]
    size = groups * local
    want = [0] * (8 * groups)
    for i, d in enumerate(data):
        want[i % size // local * 8 + d % 8] += 1
    args = {"data": values(data), "histograms": expect(fill(99, 8 * groups), want), "n": n}
    suite.test(f"{n} elements", [size], args, local=[local])
suite.write()
