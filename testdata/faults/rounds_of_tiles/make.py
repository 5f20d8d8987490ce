#!/usr/bin/env python3
"""Writes suite.toml of rounds_of_tiles."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "rounds_of_tiles.cl", "rounds", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, count):
    n = groups * size
    data = [(3 * k * k + k) % 23 for k in range(n * max(count, 1))]
    out = [sum(data[r * n + k // size * size + size - 1 - k % size] for r in range(count)) for k in range(n)]
    suite.test(name, [n], {"in": values(data), "out": expect(fill(-1, n), out), "count": count}, local=[size])


case("three rounds", 1, 16, 3)
case("one round", 2, 8, 1)
case("two rounds of two groups", 2, 8, 2)
case("none", 1, 8, 0)

suite.write()
