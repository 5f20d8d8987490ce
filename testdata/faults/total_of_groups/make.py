#!/usr/bin/env python3
"""Writes suite.toml of total_of_groups."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "total_of_groups.cl", "add_up", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, start):
    data = [3 * g + 1 for g in range(groups)]
    args = {"in": values(data), "total": expect(fill(start, 1), [start + sum(data)])}
    suite.test(name, [groups * size], args, local=[size])


case("four groups", 4, 8, 0)
case("one group", 1, 8, 0)
case("groups of one", 3, 1, 100)

suite.write()
