#!/usr/bin/env python3
"""Writes suite.toml of reverse_tile."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "reverse_tile.cl", "reverse", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    n = groups * size
    data = [k * k + 2 for k in range(n)]
    out = [data[k // size * size + size - 1 - k % size] for k in range(n)]
    suite.test(name, [n], {"in": values(data), "out": expect(fill(0, n), out)}, local=[size])


case("two groups", 2, 32)
case("three small groups", 3, 4)

suite.write()
