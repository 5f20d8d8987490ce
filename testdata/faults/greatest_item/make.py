#!/usr/bin/env python3
"""Writes suite.toml of greatest_item."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "greatest_item.cl", "note", "Tests that show the faults of the variants in `faults`.", options=["-cl-std=CL2.0"])

def case(name, items, data):
    suite.test(name, [items], {"in": values(data), "out": expect(fill(7, len(data)), [int(v > 0) for v in data]), "n": len(data)}, local=[4])
    suite.lines += ["[test.variables]", f"last = {{ expect = [{max([k for k, v in enumerate(data) if v > 0], default=-1)}] }}"]


case("two groups", 8, [3, -1, 4, -1, 5, -9, 0, 0])
case("last group not full", 8, [0, 0, -2, 8, 1, 2])
case("none", 4, [0, -1, -2, -3])
case("first alone", 8, [6, 0, 0, 0, 0, 0, 0, -1])

suite.write()
