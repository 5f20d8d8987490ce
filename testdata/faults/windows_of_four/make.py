#!/usr/bin/env python3
"""Writes suite.toml of windows_of_four."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "windows_of_four.cl", "windows", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, size):
    data = [float((3 * k * k + 2 * k) % 31 + 1) for k in range(n)]
    out = [sum(data[k : k + 4]) if k + 4 <= n else -1.0 for k in range(n)]
    suite.test(name, [items], {"in": values(data), "out": expect(fill(-1.0, n), out), "n": n}, local=[size])


case("two groups", 16, 16, 8)
case("eight elements", 8, 8, 8)
case("one window", 4, 4, 2)
case("no window", 4, 3, 4)

suite.write()
