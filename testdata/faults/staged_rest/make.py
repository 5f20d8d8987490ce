#!/usr/bin/env python3
"""Writes suite.toml of staged_rest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(__file__, "staged_rest.cl", "stage", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, n):
    data = [k * k - 7 for k in range(n)]
    out = []
    for first in range(0, n, size):
        out += data[first : min(first + size, n)][::-1]
    args = {"in": values(data), "out": expect(fill(0, n), out), "tile": local(4 * size), "n": n}
    suite.test(name, [groups * size], args, local=[size])


case("one group", 1, 8, 8)
case("last group not full", 3, 8, 21)
case("a group without elements", 3, 4, 6)

suite.write()
