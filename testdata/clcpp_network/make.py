#!/usr/bin/env python3
"""Writes suite.toml: sorts with sorted(); counts exchanges with a network of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_network.clcpp",
    "clcpp_network",
    """Sorted, reversed and equal elements, in both directions.""",
)

PAIRS = [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)]


def exchanges(four, descending):
    v, count = [-x if descending else x for x in four], 0
    for a, b in PAIRS:
        if v[a] > v[b]:
            v[a], v[b] = v[b], v[a]
            count += 1
    return count


def case(name, fours, descending):
    flat = [x for four in fours for x in four]
    result = [x for four in fours for x in sorted(four, reverse=bool(descending))]
    args = {
        "data": expect(values(flat), result),
        "descending": descending,
        "exchanges": expect(fill(-1, len(fours)), [exchanges(four, descending) for four in fours]),
        "widths": expect(fill(-1, len(fours)), [max(four) - min(four) for four in fours]),
    }
    suite.test(name, [len(fours)], args)


FOURS = [[4, 3, 2, 1], [1, 2, 3, 4], [7, 7, 7, 7], [5, -1, 9, -3]]
case("ascending", FOURS, 0)
case("descending", FOURS, 1)

suite.write()
