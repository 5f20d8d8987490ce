#!/usr/bin/env python3
"""Writes suite.toml: counts by comprehensions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_lambda.clcpp",
    "clcpp_lambda",
    """Rows with none, one and several elements above the threshold.""",
)


def case(name, rows, threshold):
    counts, means = [], []
    for row in rows:
        above = [v for v in row if v > threshold]
        counts.append(len(above) if above else -1)
        mean = sum(above) / len(above) if above else 0.0
        means.append(mean if mean != 0 else -1.0)
    args = {
        "rows": values([v for row in rows for v in row]),
        "length": len(rows[0]),
        "threshold": threshold,
        "counts": expect(fill(9, len(rows)), counts),
        "means": expect(fill(9.0, len(rows)), means),
    }
    suite.test(name, [len(rows)], args)


case("rows of four", [[1, 9, 2, 7], [0, 0, 0, 0], [5, 1, 1, 1], [8, 8, 8, 8]], 4)
case("rows of one", [[3], [2], [-2]], 2)

suite.write()
