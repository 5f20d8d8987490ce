#!/usr/bin/env python3
"""Writes suite.toml of contains."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "contains.cl", "contains", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, key, where):
    data = [key if k in where else key + 1 + k % 5 for k in range(n)]
    args = {"a": values(data), "n": n, "key": key, "found": expect(fill(0, 1), [int(bool(where))])}
    suite.test(name, [items], args, local=[8])


case("twice there", 16, 16, 7, {1, 6})
case("in both groups", 16, 13, 3, {2, 11})
case("not there", 16, 12, 4, set())
case("first", 8, 8, -2, {0})
case("last", 16, 11, 0, {10})

suite.write()
