#!/usr/bin/env python3
"""Writes suite.toml of pairs_by_helper."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "pairs_by_helper.cl", "pairs", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [k * k + 1 for k in range(groups * size)]
    out = [data[k] - 2 * data[k // size * size + (k + 1) % size] for k in range(groups * size)]
    suite.test(name, [groups * size], {"in": values(data), "out": expect(fill(0, len(data)), out)}, local=[size])


case("one group", 1, 16)
case("two groups", 2, 8)

suite.write()
