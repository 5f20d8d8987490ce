#!/usr/bin/env python3
"""Writes suite.toml of squares."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "squares.cl", "square", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, size):
    suite.test(name, [items], {"out": expect(fill(-1.0, n), [float(k * k) for k in range(n)]), "n": n}, local=[size])


case("two groups", 16, 16, 8)
case("ten elements, sixteen items", 16, 10, 8)
case("one element", 4, 1, 4)
case("more", 24, 20, 8)

suite.write()
