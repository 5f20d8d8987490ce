#!/usr/bin/env python3
"""Writes suite.toml of exchange_by_helper."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "exchange_by_helper.cl", "both", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [2 * k * k + 1 for k in range(groups * size)]
    given = [v if k % size < size // 2 else -v for k, v in enumerate(data)]
    suite.test(name, [len(data)], {"in": values(data), "out": expect(fill(0, len(data)), [given[k ^ 1] for k in range(len(data))])}, local=[size])


case("two groups", 2, 8)
case("one group", 1, 16)
case("groups of two", 3, 2)

suite.write()
