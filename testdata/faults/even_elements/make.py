#!/usr/bin/env python3
"""Writes suite.toml of even_elements."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "even_elements.cl", "gaps", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size):
    data = [3 * k * k + 1 for k in range(groups * size)]
    suite.test(name, [len(data)], {"in": values(data), "out": expect(fill(-1, len(data)), [data[k & ~1] for k in range(len(data))])}, local=[size])


case("one group", 1, 16)
case("three groups", 3, 4)

suite.write()
