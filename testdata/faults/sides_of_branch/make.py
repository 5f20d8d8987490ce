#!/usr/bin/env python3
"""Writes suite.toml of sides_of_branch."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "sides_of_branch.cl", "sides", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [3 * k * k + 1 for k in range(groups * size)]
    tmp = [-v if k % size % 2 else v for k, v in enumerate(data)]
    out = [tmp[k // size * size + size - 1 - k % size] for k in range(len(data))]
    args = {"in": values(data), "out": expect(fill(0, len(data)), out), "tmp": expect(fill(0, len(data)), tmp)}
    suite.test(name, [len(data)], args, local=[size])


case("two groups", 2, 8)
case("groups of three", 2, 3)
case("groups of one", 3, 1)

suite.write()
