#!/usr/bin/env python3
"""Writes suite.toml of word_and_bytes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "word_and_bytes.cl", "mixed", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    part = [4, 3, 2, 1] + list(range(4, size))
    suite.test(name, [groups * size], {"out": expect(fill(9, groups * size), part * groups)}, local=[size])


case("eight bytes", 1, 8)
case("three groups of twelve", 3, 12)
case("words alone", 2, 4)

suite.write()
