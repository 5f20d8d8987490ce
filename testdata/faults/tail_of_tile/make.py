#!/usr/bin/env python3
"""Writes suite.toml of tail_of_tile."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "tail_of_tile.cl", "tail", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, n):
    data = [(7 * k * k + 2) % 41 + 1 for k in range(n)]
    out = [data[k] + (data[k + 1] if (k + 1) % size and k + 1 < n else 0) for k in range(n)]
    suite.test(name, [groups * size], {"in": values(data), "out": expect(fill(-1, n), out), "n": n}, local=[size])


case("not a multiple", 2, 16, 20)
case("whole groups", 2, 8, 16)
case("one element", 2, 4, 1)

suite.write()
