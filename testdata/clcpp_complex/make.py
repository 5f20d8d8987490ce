#!/usr/bin/env python3
"""Writes suite.toml: iterates in Python's integers, with pairs instead of a class."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, fill, expect, values

suite = Suite(
    __file__,
    "clcpp_complex.clcpp",
    "clcpp_complex",
    """Points inside, outside and on the edge of the set; one whose orbit stands still at once.""",
)


def steps(cx, cy, limit):
    x = y = n = 0
    while n < limit and (x * x + y * y) // 256 <= 1024:
        before = (x, y)
        x, y = (x * x - y * y) // 256 + cx, (x * y + y * x) // 256 + cy
        n += 1
        if (x, y) == before:
            n = limit
    return n


def case(name, points, limit):
    found = [steps(cx, cy, limit) for cx, cy in points]
    suite.test(name, [len(points)], {"points": values(points), "limit": limit, "steps": expect(fill(-1, len(points)), found)})


case("across the plane", [(-512, 0), (0, 0), (256, 256), (100, -300), (-192, 32), (64, 128), (700, 0), (-330, 15)], 40)
case("no steps allowed", [(0, 0), (512, 512)], 0)

suite.write()
