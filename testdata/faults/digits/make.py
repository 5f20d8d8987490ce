#!/usr/bin/env python3
"""Writes suite.toml of digits."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "digits.cl", "digits_of", "Tests that show the faults of the variants in `faults`.")

def case(name, items, at):
    suite.test(name, [items], {"at": values(at), "out": expect(fill(0, len(at)), [10 ** (k & 3) for k in at]), "n": len(at)}, local=[4])


case("inside", 8, [0, 3, 2, 1, 1, 2, 3, 0])
case("one too large", 8, [0, 3, 4, 1, 2])
case("negative", 4, [-1, 0, 2, -8])
case("large", 4, [1000000, 9, 6, 7])

suite.write()
