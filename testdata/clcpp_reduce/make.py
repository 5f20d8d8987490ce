#!/usr/bin/env python3
"""Writes suite.toml: sums and maxima of slices."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_reduce.clcpp",
    "clcpp_reduce",
    """Reductions of groups of eight, with a group that is only partly filled.""",
)


def case(name, data, groups, mode):
    parts = [data[8 * g : 8 * g + 8] for g in range(groups)]
    neutral = [0, -(1 << 31)][mode]
    results = [[sum, max][mode](part) if part else neutral for part in parts]
    args = {"in": values(data), "n": len(data), "mode": mode, "out": expect(fill(-5, groups), results)}
    suite.test(name, [8 * groups], args, local=[8])


case("sums", [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3], 2, 0)
case("sum of a part of a group", list(range(1, 12)), 2, 0)
case("maxima", [-7, -2, -9, -4, -6, -8, -3, -5, 1, 2, 3, 4, 5, 4, 3, 2], 2, 1)
case("maximum of nothing", [11, 13, 12], 2, 1)

suite.write()
