#!/usr/bin/env python3
"""Writes suite.toml: averages of slices."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_window.clcpp",
    "clcpp_window",
    """Windows that fill up, move on and hold outliers only.""",
)


def case(name, rows, limit):
    out = []
    for row in rows:
        for i in range(len(row)):
            kept = [v for v in row[max(0, i - 2) : i + 1] if abs(v) <= limit]
            # Division in C rounds towards zero.
            out.append(int(sum(kept) / len(kept)) if kept else 0)
    args = {
        "in": values([v for row in rows for v in row]),
        "n": len(rows[0]),
        "limit": limit,
        "out": expect(fill(77, len(out)), out),
    }
    suite.test(name, [len(rows)], args)


case("two rows", [[3, 6, 9, 12, -50, 15], [90, -90, 95, 4, -7, -8]], 20)
case("single elements", [[5], [-30], [0]], 10)

suite.write()
