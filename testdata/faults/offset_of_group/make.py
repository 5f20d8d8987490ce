#!/usr/bin/env python3
"""Writes suite.toml of offset_of_group."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "offset_of_group.cl", "offset_by", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    bases = [10 + 7 * g * g for g in range(groups)]
    out = [bases[k // size] + k % size for k in range(groups * size)]
    suite.test(name, [groups * size], {"in": values(bases), "out": expect(fill(0, groups * size), out)}, local=[size])


case("two groups", 2, 8)
case("one group", 1, 16)
case("groups of one", 5, 1)

suite.write()
