#!/usr/bin/env python3
"""Writes suite.toml of ends_of_rows."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "ends_of_rows.cl", "ends", "Tests that show the faults of the variants in `faults`.")

def case(name, items, rows, n):
    a = [(13 * k * k + k) % 101 for k in range(rows * n)]
    out = []
    for y in range(rows):
        out += [a[y * n], a[y * n + n - 1]]
    suite.test(name, [items], {"a": values(a), "out": expect(fill(-1, 2 * rows), out), "rows": rows, "n": n}, local=[2])


case("two groups", 4, 4, 5)
case("one row", 2, 1, 4)
case("one column", 8, 7, 1)

suite.write()
