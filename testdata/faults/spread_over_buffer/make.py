#!/usr/bin/env python3
"""Writes suite.toml of spread_over_buffer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "spread_over_buffer.cl", "everywhere", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, count, size):
    out = [k // items + 1 if k // items < count else 0 for k in range(n)]
    suite.test(name, [items], {"out": expect(fill(0, n), out), "n": n, "count": count}, local=[size])


case("exactly", 16, 48, 3, 8)
case("the last round not full", 16, 40, 3, 4)
case("not all", 8, 40, 4, 8)

suite.write()
