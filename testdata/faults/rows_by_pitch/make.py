#!/usr/bin/env python3
"""Writes suite.toml of rows_by_pitch."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(__file__, "rows_by_pitch.cl", "rows", "Tests that show the faults of the variants in `faults`.")

def case(name, items, height, width, pitch):
    out = [k // pitch if k % pitch < width else -1 for k in range(height * pitch)]
    args = {"out": expect(fill(-1, height * pitch), out), "height": height, "width": width, "pitch": pitch}
    suite.test(name, [items], args, local=[4])


case("apart", 8, 8, 5, 8)
case("side by side", 4, 4, 6, 6)
case("too narrow", 8, 7, 8, 7)

suite.write()
