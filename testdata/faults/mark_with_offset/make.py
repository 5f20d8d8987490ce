#!/usr/bin/env python3
"""Writes suite.toml of mark_with_offset."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "mark_with_offset.cl", "mark", "Tests that show the faults of the variants in `faults`.")

def case(name, base, n=32, items=24):
    p = [int(16 <= k < 20 and k < items) for k in range(n)]
    at = 2 * base + 1
    if 0 <= at < n and not 16 <= at < 20:
        p[at] = 3
    suite.test(name, [items], {"p": expect(fill(0, n), p), "n": n, "base": base}, local=[8])


case("before the four", 3)
case("the element of work-item 17", 8)
case("the element of work-item 19", 9)
case("behind the four", 10)
case("behind the end", 16)
case("the last but one", 15)
case("no element", -1)
case("few elements", 2, 18)

suite.write()
