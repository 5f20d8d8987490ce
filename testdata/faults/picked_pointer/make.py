#!/usr/bin/env python3
"""Writes suite.toml of picked_pointer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "picked_pointer.cl", "pick", "Tests that show the faults of the variants in `faults`.", options=["-cl-std=CL2.0"])

def case(name, groups, size):
    data = [4 * k + 3 for k in range(groups * size)]
    out = [v + 1 if k % size == 0 else v for k, v in enumerate(data)]
    suite.test(name, [groups * size], {"in": values(data), "out": expect(fill(0, len(data)), out)}, local=[size])


case("one group", 1, 8)
case("two groups", 2, 4)
case("groups of one", 3, 1)

suite.write()
