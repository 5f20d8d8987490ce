#!/usr/bin/env python3
"""Writes suite.toml of blocks_of_groups."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "blocks_of_groups.cl", "blocks", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, n):
    args = {"out": expect(fill(-1, n), [k // size for k in range(n)]), "n": n}
    suite.test(name, [groups * size], args, local=[size])


case("three groups", 3, 8, 24)
case("last group not full", 3, 8, 19)
case("one group", 1, 8, 8)

suite.write()
