#!/usr/bin/env python3
"""Writes suite.toml of transpose_in_place."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, values

suite = Suite(__file__, "transpose_in_place.cl", "transpose", "Tests that show the faults of the variants in `faults`.")

def case(name, size, n, group):
    a = [10 * y + x for y in range(n) for x in range(n)]
    b = [10 * x + y for y in range(n) for x in range(n)]
    suite.test(name, size, {"a": expect(values(a), b), "n": n}, local=group)


case("one group of 4 by 4", [4, 4], 4, [4, 4])
case("groups of 2 by 3", [6, 6], 5, [2, 3])
case("two by two", [2, 2], 2, [2, 1])

suite.write()
