#!/usr/bin/env python3
"""Writes suite.toml of claimed_slots."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "claimed_slots.cl", "claim", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, taken):
    count = (groups * size + 3) // 4
    slots = [int(k in taken) for k in range(count)]
    args = {"slots": expect(values(slots), [1] * count), "winners": expect(fill(0, 1), [slots.count(0)])}
    suite.test(name, [groups * size], args, local=[size])


case("all free", 4, 8, set())
case("some taken", 2, 16, {1, 4})
case("one slot for two groups", 2, 2, set())

suite.write()
