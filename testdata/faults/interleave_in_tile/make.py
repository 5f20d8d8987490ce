#!/usr/bin/env python3
"""Writes suite.toml of interleave_in_tile."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(__file__, "interleave_in_tile.cl", "interleave", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [5 * k + 1 for k in range(groups * size)]
    out = [w for v in data for w in (v, 2 * v)]
    args = {"in": values(data), "out": expect(fill(0, len(out)), out), "tile": local(8 * size)}
    suite.test(name, [groups * size], args, local=[size])


case("one group", 1, 16)
case("three groups", 3, 4)
case("groups of one", 2, 1)

suite.write()
