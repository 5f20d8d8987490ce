#!/usr/bin/env python3
"""Writes suite.toml of histogram."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "histogram.cl", "histogram", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, start):
    data = [(37 * k * k + 11 * k) % 256 for k in range(n)]
    bins = [start + sum(v % 8 == b for v in data) for b in range(8)]
    args = {"in": values(data), "bins": expect(fill(start, 8), bins), "n": n}
    suite.test(name, [items], args, local=[16])


case("two groups", 32, 32, 0)
case("last group not full", 64, 50, 5)

suite.write()
