#!/usr/bin/env python3
"""Writes suite.toml of weights_of_pairs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, values

suite = Suite(__file__, "weights_of_pairs.cl", "weigh", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n):
    mass = [float(k * k + 1) for k in range(n)]
    count = (n + 1) // 2
    pairs = [{"fields": {"first": k, "weight": -1.0}} for k in range(count)]
    out = [{"fields": {"first": k, "weight": sum(mass[2 * k : 2 * k + 2])}} for k in range(count)]
    suite.test(name, [items], {"pairs": expect(values(pairs), out), "mass": values(mass), "n": n}, local=[8])


case("two groups", 16, 16)
case("one alone", 16, 11)
case("more items than particles", 16, 6)

suite.write()
