#!/usr/bin/env python3
"""Writes suite.toml of shift_right."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "shift_right.cl", "shift", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    n = groups * size
    data = [2 * k + 5 for k in range(n)]
    out = [0 if k % size == 0 else data[k - 1] for k in range(n)]
    suite.test(name, [n], {"in": values(data), "out": expect(fill(-1, n), out)}, local=[size])


case("one group", 1, 16)
case("three groups", 3, 8)

suite.write()
