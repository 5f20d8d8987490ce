#!/usr/bin/env python3
"""Writes suite.toml of choose_buffer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "choose_buffer.cl", "choose", "Tests that show the faults of the variants in `faults`.")

def case(name, which):
    end = lambda number: expect(fill(0, 8), [which if which == number else 0] * 8)
    suite.test(name, [8], {"a": end(1), "b": end(2), "which": which}, local=[4])


case("first", 1)
case("second", 2)
case("neither", 0)
case("none of that number", 3)
case("negative", -1)

suite.write()
