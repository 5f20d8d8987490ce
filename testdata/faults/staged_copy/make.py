#!/usr/bin/env python3
"""Writes suite.toml of staged_copy."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(__file__, "staged_copy.cl", "staged", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    n = groups * size
    data = [3 * k + 5 for k in range(n)]
    out = [data[k // size * size + size - 1 - k % size] for k in range(n)]
    suite.test(name, [n], {"in": values(data), "out": expect(fill(0, n), out), "tile": local(4 * size)}, local=[size])


case("one group", 1, 8)
case("three groups", 3, 4)

suite.write()
