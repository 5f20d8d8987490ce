#!/usr/bin/env python3
"""Writes suite.toml of shares."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "shares.cl", "shares", "Tests that show the faults of the variants in `faults`.")

def case(name, items, total, count):
    out = [t // c if c else 0 for t, c in zip(total, count)]
    args = {"total": values(total), "count": values(count), "out": expect(fill(77, len(total)), out), "n": len(total)}
    suite.test(name, [items], args, local=[4])


case("no zero", 8, [8, 9, 10, 11, 12, 13, 14, 15], [2, 3, 4, 1, 5, 13, 6, 7])
case("one zero", 8, [8, 9, 10, 11, 12], [2, 3, 0, 2, 20])
case("nothing of nothing", 4, [0, 5, 0], [0, 5, 2])
case("large", 4, [4294967295, 4294967295, 1, 7], [1, 2147483648, 4294967295, 3])

suite.write()
