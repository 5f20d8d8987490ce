#!/usr/bin/env python3
"""Writes suite.toml of slot_of_tile."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "slot_of_tile.cl", "slots", "Tests that show the faults of the variants in `faults`.")

def case(name, slot, groups=2):
    part = [7, 106, 5 + 200 * (9 < slot < 16), 4, 3, 2, 1, 0]
    suite.test(name, [8 * groups], {"out": expect(fill(0, 8 * groups), part * groups), "slot": slot}, local=[8])


case("a free slot", 12)
case("the fixed slot", 9)
case("the first free slot", 10, 1)
case("the last slot", 15)
case("behind the tile", 16)
case("the slot of a work-item", 3)
case("no slot", -5)

suite.write()
