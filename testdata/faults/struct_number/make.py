#!/usr/bin/env python3
"""Writes suite.toml of struct_number."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "struct_number.cl", "number", "Tests that show the faults of the variants in `faults`.", options=["-cl-std=CL2.0"])

def case(name, items, n):
    suite.test(name, [items], {"j": {"fields": {"n": n, "to": expect(fill(-1, n), range(n))}}}, local=[4])


case("four groups", 16, 16)
case("last group not full", 16, 15)

suite.write()
