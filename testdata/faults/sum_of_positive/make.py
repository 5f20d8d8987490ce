#!/usr/bin/env python3
"""Writes suite.toml of sum_of_positive."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "sum_of_positive.cl", "partial", "Tests that show the faults of the variants in `faults`.", options=["-cl-std=CL2.0"])

def case(name, size, data):
    out = []
    for first in range(0, len(data), size):
        part = data[first : first + size]
        total = sum(v for v in part if v > 0)
        out += [total if v > 0 else -7 for v in part]
    suite.test(name, [len(data)], {"in": values(data), "out": expect(fill(-7, len(data)), out)}, local=[size])


case("one negative", 4, [1, -1, 2, 3, 5, 6, 7, 8])
case("all positive", 4, [4, 5, 6, 7, 1, 2, 3, 4])
case("zeros", 4, [0, 1, 0, 9])
case("one group of none", 2, [-1, -2, 3, 4])

suite.write()
