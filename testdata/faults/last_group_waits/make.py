#!/usr/bin/env python3
"""Writes suite.toml of last_group_waits."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "last_group_waits.cl", "last_group", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, n):
    data = [k * k + 8 for k in range(n)]
    out = [2 * data[k ^ 1] if k ^ 1 < n else 0 for k in range(n)]
    args = {"tmp": fill(0, n), "in": values(data), "out": expect(fill(-1, n), out), "n": n}
    suite.test(name, [groups * size], args, local=[size])


case("two whole groups and a half", 3, 8, 20)
case("whole groups", 2, 8, 16)
case("one alone at the end", 2, 4, 7)

suite.write()
