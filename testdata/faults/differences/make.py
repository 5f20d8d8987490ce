#!/usr/bin/env python3
"""Writes suite.toml of differences."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "differences.cl", "differences", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n):
    data = [k * k * k + 4 for k in range(n)]
    out = [data[k] - data[k - 1] if k else data[0] for k in range(n)]
    suite.test(name, [items], {"in": values(data), "out": expect(fill(-1, n), out), "n": n}, local=[8])


case("two groups", 16, 16)
case("last group not full", 24, 21)
case("one element", 8, 1)

suite.write()
