#!/usr/bin/env python3
"""Writes suite.toml: means and variances by their definition, in rational arithmetic."""

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, f32, values

suite = Suite(
    __file__,
    "printf_debug.cl",
    "printf_debug",
    """Statistics with messages. Incomplete on purpose: verbose is never above 1, and no row is empty.""",
    tolerance={"abs": 1e-4, "rel": 1e-5},
)


def case(name, width, count, verbose, number):
    rows = [[number(r, i) for i in range(width)] for r in range(count)]
    statistics = []
    for row in rows:
        mean = Fraction(sum(row), width)
        statistics += [f32(float(mean)), f32(float(sum((x - mean) ** 2 for x in row) / width))]
    suite.test(
        name,
        [64],
        {
            "rows": values(float(x) for row in rows for x in row),
            "width": width,
            "count": count,
            "verbose": verbose,
            "statistics": expect(values([-1.0] * (2 * count)), statistics),
        },
        local=[16],
    )


case("quiet", 6, 50, 0, lambda r, i: (r * 7 + i * 5) % 13 - 6)
case("verbose", 3, 4, 1, lambda r, i: r - i)
case("rows of one", 1, 64, 0, lambda r, i: r)
suite.write()
