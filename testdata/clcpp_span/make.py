#!/usr/bin/env python3
"""Writes suite.toml: finds runs with itertools.groupby."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(
    __file__,
    "clcpp_span.clcpp",
    "clcpp_span",
    """Groups of four, the last one partly filled, and no element at all.""",
)

from itertools import groupby


def case(name, data, groups):
    out = []
    for g in range(groups):
        if not data:
            out += [-9, -9]
            continue
        part = (data[4 * g : 4 * g + 4] + [-1] * 4)[:4]
        # Before its first element, a view shows -1, which continues a run of missing elements only.
        runs = [(value, len(list(run))) for value, run in groupby(part)]
        value, length = max(runs, key=lambda run: run[1])
        if runs[0][0] == -1 and runs[0][1] + 1 > length:
            value, length = -1, runs[0][1] + 1
        out += [value, min(length, len(data) - 4 * g)]
    args = {"in": values(data or [0]), "n": len(data), "out": expect(fill(-9, 2 * groups), out), "copied": local(16)}
    suite.test(name, [4 * groups], args, local=[4])


case("whole groups", [7, 7, 7, 2, 1, 5, 5, 1, 3, 3, 3, 3], 3)
case("a part of a group", [4, 6, 6, 6, 8], 2)
case("nothing", [], 1)

suite.write()
