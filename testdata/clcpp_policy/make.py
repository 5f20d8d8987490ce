#!/usr/bin/env python3
"""Writes suite.toml: pads the line and slides over it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_policy.clcpp",
    "clcpp_policy",
    """Both policies; a line of one element; more work-items than elements.""",
)


def case(name, line, filler, size):
    ends = (line[0], line[-1]) if filler < 0 else (filler, filler)
    padded = [ends[0], *line, ends[1]]
    result = [a + 2 * b + c for a, b, c in zip(padded, padded[1:], padded[2:])]
    args = {"line": values(line), "n": len(line), "filler": filler, "out": expect(fill(-1, len(line)), result)}
    suite.test(name, [size], args)


case("clamped", [5, 1, -4, 8, 2, 6], -1, 8)
case("filled", [5, 1, -4, 8, 2, 6], 100, 6)
case("one element", [3], -1, 1)

suite.write()
