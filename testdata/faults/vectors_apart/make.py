#!/usr/bin/env python3
"""Writes suite.toml of vectors_apart."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "vectors_apart.cl", "apart", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, size):
    out = [float(k // 4 + k % 4) if k // 4 < n // 4 else -1.0 for k in range(n)]
    suite.test(name, [items], {"out": expect(fill(-1.0, n), out), "n": n}, local=[size])


case("two groups", 16, 64, 8)
case("a part is left", 16, 50, 4)
case("none fits", 4, 3, 4)

suite.write()
