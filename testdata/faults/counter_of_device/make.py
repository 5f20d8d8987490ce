#!/usr/bin/env python3
"""Writes suite.toml of counter_of_device."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "counter_of_device.cl", "count", "Tests that show the faults of the variants in `faults`.", options=["-cl-std=CL3.0"])

def case(name, items, n, start):
    data = [(5 * k * k + k) % 9 - 3 for k in range(n)]
    args = {"in": values(data), "n": n, "counter": expect(fill(start, 1), [start + sum(v > 0 for v in data)])}
    suite.test(name, [items], args, local=[8])


case("two groups", 16, 16, 0)
case("last group not full", 24, 19, 3)

suite.write()
