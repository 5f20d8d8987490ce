#!/usr/bin/env python3
"""Writes suite.toml of greatest_of_pairs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "greatest_of_pairs.cl", "halves", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, start, size):
    data = [(11 * k * k + 5 * k) % 37 - 18 for k in range(n)]
    out = [max([start] + data[2 * k : 2 * k + 2]) for k in range((n + 1) // 2)]
    suite.test(name, [items], {"in": values(data), "out": expect(fill(start, len(out)), out), "n": n}, local=[size])


case("two groups", 32, 32, -100, 16)
case("a pair in two groups", 18, 17, 0, 3)
case("all negative", 8, 4, -2147483648, 8)

suite.write()
