#!/usr/bin/env python3
"""Writes suite.toml of leave_loop."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "leave_loop.cl", "leave", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, rounds, limit, factor):
    data = [(factor * (k * k + 1)) % 9 for k in range(groups * rounds)]
    out = []
    for g in range(groups):
        total = 0
        for value in data[g * rounds : (g + 1) * rounds]:
            total += value
            if total > limit:
                break
        out += [total * size + k for k in range(size)]
    args = {"in": values(data), "out": expect(fill(-1, len(out)), out), "rounds": rounds, "limit": limit}
    suite.test(name, [len(out)], args, local=[size])


case("limit passed", 2, 4, 5, 10, 4)
case("limit not passed", 2, 8, 3, 1000, 5)
case("limit met", 1, 4, 4, 4, 4)
case("no rounds", 2, 4, 0, 3, 1)

suite.write()
