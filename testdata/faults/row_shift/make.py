#!/usr/bin/env python3
"""Writes suite.toml of row_shift."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "row_shift.cl", "shift", "Tests that show the faults of the variants in `faults`.")

def case(name, columns, rows, group):
    n = columns * rows
    data = [float((17 * k * k + k) % 29 + 1) for k in range(n)]
    out = [0.0 if (k % columns + 1) % group[0] == 0 else data[k + 1] for k in range(n)]
    suite.test(name, [columns, rows], {"in": values(data), "out": expect(fill(-1.0, n), out)}, local=group)


case("two tiles", 16, 4, [8, 4])
case("small tiles", 8, 6, [4, 2])
case("one column", 1, 3, [1, 3])

suite.write()
