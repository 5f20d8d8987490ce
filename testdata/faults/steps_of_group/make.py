#!/usr/bin/env python3
"""Writes suite.toml of steps_of_group."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "steps_of_group.cl", "steps", "Tests that show the faults of the variants in `faults`.")

def case(name, size, count, most):
    left = lambda k: k // size * size + (k % size - 1) % size
    out = [(left(k) % size + 1) * max(min(count[left(k)], most), 0) for k in range(len(count))]
    suite.test(name, [len(count)], {"count": values(count), "out": expect(fill(-1, len(count)), out), "most": most}, local=[size])


case("different counts", 4, [1, 2, 3, 4, 4, 0, 2, 1], 4)
case("equal counts", 4, [3, 3, 3, 3], 3)
case("one count too large", 2, [1, 9, 2, 2], 5)
case("no steps", 4, [1, 2, 1, 0], 0)

suite.write()
