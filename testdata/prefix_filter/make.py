#!/usr/bin/env python3
"""Writes suite.toml: filters block by block with list comprehensions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "prefix_filter.cl", "prefix_filter", "Stream compaction. Complete on purpose: every outcome and loop class (see hand.toml).")


def case(name, data, low, high, items, group, comment=None):
    groups = items // group
    out, kept = [], []
    for g in range(groups):
        block = [x for x in data[g * group : (g + 1) * group] if low <= x <= high]
        kept.append(len(block))
        out += block + [-1] * (group - len(block))
    suite.test(
        name,
        [items],
        {
            "in": values(data),
            "n": len(data),
            "low": low,
            "high": high,
            "out": expect(fill(-1, items), out),
            "kept": expect(fill(99, groups), kept),
        },
        local=[group],
        comment=comment,
    )


data = [(37 * i + 11) % 101 - 50 for i in range(128)]
case("four blocks of 32", data, -20, 25, 128, 32)
case("the last block is short", data[:83], 0, 50, 128, 64)
case("groups of one", data[:64], -50, 0, 64, 1, "the scan's loop runs zero times")
case("groups of two", data[:64], -10, 10, 64, 2, "the scan's loop runs once")
suite.write()
