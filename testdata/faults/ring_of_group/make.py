#!/usr/bin/env python3
"""Writes suite.toml of ring_of_group."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(__file__, "ring_of_group.cl", "neighbour", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    n = groups * size
    data = [k * k - 3 for k in range(n)]
    out = [data[k // size * size + (k + 1) % size] for k in range(n)]
    suite.test(name, [n], {"in": values(data), "out": expect(fill(0, n), out), "tile": local(4 * size)}, local=[size])


case("one group", 1, 16)
case("two groups", 2, 8)
case("groups of three", 4, 3)

suite.write()
