#!/usr/bin/env python3
"""Writes suite.toml of tree_sum."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(__file__, "tree_sum.cl", "sum", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, n):
    data = [(9 * k * k + 4 * k) % 19 - 5 for k in range(n)]
    out = [sum(data[g * size : (g + 1) * size]) for g in range(groups)]
    args = {"in": values(data), "out": expect(fill(-1, groups), out), "part": local(4 * size), "n": n}
    suite.test(name, [groups * size], args, local=[size])


case("two groups", 2, 32, 64)
case("last group not full", 3, 8, 21)
case("groups of one", 2, 1, 2)
case("one group", 1, 16, 16)

suite.write()
