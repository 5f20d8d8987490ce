#!/usr/bin/env python3
"""Writes suite.toml of exchange_opposite."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "exchange_opposite.cl", "exchange", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [4 * k * k + 3 for k in range(groups * size)]
    out = [v + size - 1 - k % size for k, v in enumerate(data)]
    suite.test(name, [len(data)], {"in": values(data), "out": expect(fill(0, len(data)), out)}, local=[size])


case("two groups", 2, 8)
case("groups of five", 3, 5)
case("groups of one", 2, 1)

suite.write()
