#!/usr/bin/env python3
"""Writes suite.toml of two_elements."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "two_elements.cl", "two", "Tests that show the faults of the variants in `faults`.")

def case(name, x, items=16, n=20):
    p = [1] + [0] * (n - 1)
    if items > 7 and 0 < x < n:
        p[x] = 2
    suite.test(name, [items], {"p": expect(fill(0, n), p), "n": n, "x": x}, local=[items // 2])


case("apart", 5)
case("the same element", 0)
case("the next element", 1)
case("the last element", 19)
case("behind the end", 20)
case("before the buffer", -1)
case("six work-items", 5, 6)
case("far behind", 500)

suite.write()
