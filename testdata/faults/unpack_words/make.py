#!/usr/bin/env python3
"""Writes suite.toml of unpack_words."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "unpack_words.cl", "unpack", "Tests that show the faults of the variants in `faults`.")

def case(name, items, size, factor):
    data = [(factor * (k * k + 5 * k + 2)) % 256 for k in range(5 * items)]
    out = [int.from_bytes(data[5 * k + 1 : 5 * k + 5], "little") for k in range(items)]
    suite.test(name, [items], {"bytes": values(data), "out": expect(fill(0, items), out)}, local=[size])


case("two groups", 8, 4, 7)
case("three records", 3, 1, 91)
case("small bytes", 4, 2, 0)

suite.write()
