#!/usr/bin/env python3
"""Writes suite.toml of window_of_tile."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "window_of_tile.cl", "window", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    n = groups * size
    data = [k * k + 3 for k in range(n)]
    out = [data[k] + (data[k - 1] if k % size else 0) for k in range(n)]
    suite.test(name, [n], {"in": values(data), "out": expect(fill(-1, n), out)}, local=[size])


case("full tile", 2, 16)
case("small groups", 3, 5)
case("groups of one", 2, 1)

suite.write()
