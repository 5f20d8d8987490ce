#!/usr/bin/env python3
"""Writes suite.toml of doubled_table."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "doubled_table.cl", "scribble", "Tests that show the faults of the variants in `faults`.")

def case(name, items, size, n):
    table = [k * k + 3 for k in range(size)]
    args = {"table": values(table), "out": expect(fill(0, n), [2 * table[k % size] for k in range(n)]), "size": size, "n": n}
    suite.test(name, [items], args, local=[4])


case("once", 8, 8, 8)
case("several times", 16, 3, 14)
case("not to its end", 4, 6, 4)
case("one entry", 4, 1, 3)

suite.write()
