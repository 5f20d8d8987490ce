#!/usr/bin/env python3
"""Writes suite.toml of smoothing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "smoothing.cl", "smooth", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n):
    a = [float((5 * k * k + 2 * k) % 17) for k in range(n)]
    b = [a[k] if k in (0, n - 1) else a[k - 1] / 4 + a[k] / 2 + a[k + 1] / 4 for k in range(n)]
    suite.test(name, [items], {"a": values(a), "b": expect(fill(0.0, n), b), "n": n}, local=[8])


case("two groups", 16, 16)
case("last group not full", 24, 19)
case("one element", 8, 1)

suite.write()
