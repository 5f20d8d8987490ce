#!/usr/bin/env python3
"""Writes suite.toml of remainders."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "remainders.cl", "remainders", "Tests that show the faults of the variants in `faults`.")

from math import fmod


def case(name, a, b):
    out = [0 if y in (0, -1) else int(fmod(x, y)) for x, y in zip(a, b)]
    suite.test(name, [len(a)], {"a": values(a), "b": values(b), "out": expect(fill(77, len(a)), out)}, local=[2])


case("small", [7, 8, -9, 10], [2, 3, 4, -3])
case("zero", [7, 0, 3, 4], [0, 5, 0, 2])
case("least by minus one", [7, -2147483648, -2147483648, 6], [2, -1, 10, -1])
case("one", [5, -2147483648], [1, 1])

suite.write()
