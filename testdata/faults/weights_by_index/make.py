#!/usr/bin/env python3
"""Writes suite.toml of weights_by_index."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "weights_by_index.cl", "weigh", "Tests that show the faults of the variants in `faults`.")

WEIGHTS = [0.25, 0.5, 0.125, 2.0]


def case(name, items, at):
    out = [WEIGHTS[min(max(k, 0), 3)] for k in at]
    suite.test(name, [items], {"at": values(at), "out": expect(fill(-1.0, len(at)), out), "n": len(at)}, local=[4])


case("inside", 8, [0, 1, 2, 3, 2, 1, 0, 1])
case("one negative", 8, [2, 1, 0, -1, 3, 1])
case("one too large", 4, [2, 4, 0, 1])
case("far outside", 4, [2000000000, -2000000000, 1, 1])

suite.write()
