#!/usr/bin/env python3
"""Writes suite.toml of first_half_stores."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "first_half_stores.cl", "half_waits", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [k * k + 6 for k in range(groups * size)]
    out = []
    for first in range(0, len(data), size):
        sums = [data[first + k] + data[first + k + size // 2] for k in range(size // 2)]
        out += [sums[(k + 1) % (size // 2)] for k in range(size)]
    suite.test(name, [len(data)], {"in": values(data), "out": expect(fill(-1, len(data)), out)}, local=[size])


case("one group", 1, 16)
case("two groups of six", 2, 6)
case("groups of two", 3, 2)

suite.write()
