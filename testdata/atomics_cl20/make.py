#!/usr/bin/env python3
"""Writes suite.toml: histograms by counting."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "atomics_cl20.cl",
    "atomics_cl20",
    """Histogram with OpenCL C 2.0 atomics. Complete on purpose.""",
    options=["-cl-std=CL3.0"],
)


def case(name, data, shift, items, group):
    bins = [0] * 16
    for v in data:
        bins[min(v >> shift, 15)] += 1
    suite.test(
        name,
        [items],
        {
            "in": values(data or [0]),
            "n": len(data),
            "shift": shift,
            "bins": expect(fill(0, 16), bins),
            "taken": expect(fill(0, 16), [int(b > 0) for b in bins]),
            "used": expect(fill(0, 1), [sum(b > 0 for b in bins)]),
            "largest": expect(fill(0, 1), [max(data, default=0)]),
        },
        local=[group],
    )


case("five groups", [(i * i * 37 + 5 * i) % 251 for i in range(300)], 4, 320, 64)
case("small groups", [(i * 29) % 200 for i in range(64)], 3, 64, 8)
case("no number", [], 0, 64, 16)
suite.write()
