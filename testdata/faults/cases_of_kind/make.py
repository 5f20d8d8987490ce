#!/usr/bin/env python3
"""Writes suite.toml of cases_of_kind."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "cases_of_kind.cl", "cases", "Tests that show the faults of the variants in `faults`.")

def case(name, size, kinds):
    box = [{0: 10, 1: 11 + k % size}.get(v, 0) for k, v in enumerate(kinds)]
    out = [box[k] - box[k // size * size + (k + 1) % size] for k in range(len(kinds))]
    suite.test(name, [len(kinds)], {"kind": values(kinds), "out": expect(fill(99, len(kinds)), out)}, local=[size])


case("all kinds", 4, [0, 1, 2, 1, 1, 0, 7, -1])
case("of one kind", 4, [1, 1, 1, 1, 0, 0, 0, 0])
case("no known kind", 2, [5, 2, -3, 9])
case("both known kinds", 4, [0, 1, 1, 0])

suite.write()
