#!/usr/bin/env python3
"""Writes suite.toml of two_copies."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "two_copies.cl", "halves", "Tests that show the faults of the variants in `faults`.")

def case(name, groups):
    data = [(k * k + 2) % 71 for k in range(16 * groups)]
    suite.test(name, [16 * groups], {"in": values(data), "out": expect(fill(-1, 16 * groups), data)}, local=[16])


case("one group", 1)
case("three groups", 3)

suite.write()
