#!/usr/bin/env python3
"""Writes suite.toml of copied_by_group."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "copied_by_group.cl", "whole", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [k * k + 4 for k in range(groups * size)]
    out = [data[k // size * size + size - 1 - k % size] for k in range(len(data))]
    suite.test(name, [len(data)], {"in": values(data), "out": expect(fill(0, len(data)), out)}, local=[size])


case("one group", 1, 16)
case("two small groups", 2, 6)
case("groups of one", 3, 1)

suite.write()
