#!/usr/bin/env python3
"""Writes suite.toml: filters in Python's integers, whose shifts round down, too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_fixed.clcpp",
    "clcpp_fixed",
    """A filter that settles, one that saturates at both ends, and lanes without an element.""",
)


def clip(x):
    return max(-32768, min(32767, x))


def case(name, data, weight, lanes):
    out = [0] * len(data)
    for lane in range(lanes):
        state = 0
        for i in range(lane, len(data), lanes):
            state = clip(state + clip(clip(data[i] - state) * weight >> 8))
            out[i] = state
    suite.test(name, [lanes], {"in": values(data), "n": len(data), "weight": weight, "out": expect(fill(1, len(data)), out)})


case("settles", [256, 256, 256, 256, 300, -300, 256, 0, 77], 64, 2)
case("saturates", [32767, -32768, 32767, -32768, 30000, -30000], 1024, 1)
case("one element for four lanes", [500], 128, 4)

suite.write()
