#!/usr/bin/env python3
"""Writes suite.toml of struct_shift."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "struct_shift.cl", "shift", "Tests that show the faults of the variants in `faults`.", options=["-cl-std=CL2.0"])

def case(name, items, n):
    data = [k * k + 1 for k in range(n)]
    to = expect(fill(-1, n), data[1:] + [-1])
    suite.test(name, [items], {"j": {"fields": {"n": n, "from": values(data), "to": to}}}, local=[4])


case("four groups", 16, 16)
case("last group not full", 16, 14)
case("one element", 4, 1)

suite.write()
