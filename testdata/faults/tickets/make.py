#!/usr/bin/env python3
"""Writes suite.toml of tickets."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "tickets.cl", "tickets", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, size, first=0):
    seen = [int(first <= k < first + items) for k in range(n)]
    args = {"counter": expect(values([first]), [first + items]), "seen": expect(fill(0, n), seen), "n": n}
    suite.test(name, [items], args, local=[size])


case("two groups", 16, 16, 8)
case("more items than tickets", 24, 17, 8)
case("some drawn before", 8, 16, 4, 5)

suite.write()
