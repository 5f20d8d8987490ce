#!/usr/bin/env python3
"""Writes suite.toml of scan_in_rounds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(__file__, "scan_in_rounds.cl", "scan", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    n = groups * size
    data = [(7 * k * k + k) % 13 - 4 for k in range(n)]
    out = [sum(data[k // size * size : k + 1]) for k in range(n)]
    suite.test(name, [n], {"in": values(data), "out": expect(fill(0, n), out), "s": local(4 * size)}, local=[size])


case("one group", 1, 16)
case("two groups of six", 2, 6)
case("groups of one", 2, 1)
case("groups of two", 2, 2)

suite.write()
