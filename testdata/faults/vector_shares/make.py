#!/usr/bin/env python3
"""Writes suite.toml of vector_shares."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, values

suite = Suite(__file__, "vector_shares.cl", "parts", "Tests that show the faults of the variants in `faults`.")

def case(name, a, b):
    out = [[x // (y or 1) for x, y in zip(u, v)] for u, v in zip(a, b)]
    args = {"a": values(a), "b": values(b), "out": expect(values([[9, 9, 9, 9]] * len(a)), out)}
    suite.test(name, [len(a)], args, local=[1])


case("no zero", [[8, 9, 10, 11], [5, 6, 7, 8]], [[2, 3, 4, 1], [5, 1, 2, 3]])
case("third component", [[8, 9, 10, 11], [1, 2, 3, 4]], [[2, 3, 0, 1], [1, 1, 1, 2]])
case("first component", [[8, 9, 10, 11]], [[0, 3, 5, 1]])
case("all components", [[8, 9, 10, 11], [0, 1, 2, 3]], [[0, 0, 0, 0], [0, 0, 0, 0]])

suite.write()
