#!/usr/bin/env python3
"""Writes suite.toml of rotate_through_buffer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "rotate_through_buffer.cl", "rotate_left", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    n = groups * size
    data = [7 - k * k for k in range(n)]
    out = [data[k // size * size + (k + 1) % size] for k in range(n)]
    suite.test(name, [n], {"tmp": fill(0, n), "in": values(data), "out": expect(fill(0, n), out)}, local=[size])


case("one group", 1, 16)
case("three groups", 3, 8)
case("groups of six", 2, 6)

suite.write()
