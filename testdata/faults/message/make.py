#!/usr/bin/env python3
"""Writes suite.toml of message."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "message.cl", "pass", "Tests that show the faults of the variants in `faults`.", options=["-cl-std=CL3.0"])

def case(name, groups, size):
    n = groups * size
    # What out holds depends on who comes first.
    args = {"data": expect(fill(0, 1), [42]), "flag": expect(fill(0, 1), [1]), "out": fill(0, n)}
    suite.test(name, [n], args, local=[size])


case("two groups of one", 2, 1)
case("three groups of four", 3, 4)

suite.write()
