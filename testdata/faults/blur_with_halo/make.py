#!/usr/bin/env python3
"""Writes suite.toml of blur_with_halo."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "blur_with_halo.cl", "blur", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, n):
    data = [float(1 + k * k % 11) for k in range(n)]
    wide = [0.0] + data + [0.0]
    out = [wide[k] + wide[k + 1] + wide[k + 2] for k in range(n)]
    args = {"in": values(data), "out": expect(fill(-1.0, n), out), "n": n}
    suite.test(name, [groups * size], args, local=[size])


case("two groups", 2, 16, 32)
case("last group not full", 3, 8, 21)
case("one group", 1, 16, 16)
case("one element in the last group", 3, 8, 17)

suite.write()
