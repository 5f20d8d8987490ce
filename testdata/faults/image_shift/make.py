#!/usr/bin/env python3
"""Writes suite.toml of image_shift."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite

suite = Suite(__file__, "image_shift.cl", "shift_right", "Tests that show the faults of the variants in `faults`.")

def picture(columns, rows, texels):
    return {"image2d": {"values": texels}, "width": columns, "height": rows, "channel_order": "R", "channel_type": "UNSIGNED_INT8"}


def case(name, size, columns, rows, group):
    a = [(7 * y * columns + 3 * x + 1) % 200 + 1 for y in range(rows) for x in range(columns)]
    b = [0 if k % columns == 0 else a[k - 1] for k in range(columns * rows)]
    to = {**picture(columns, rows, [0] * (columns * rows)), "expect": {"values": b}}
    suite.test(name, size, {"from": picture(columns, rows, a), "to": to}, local=group)


case("four by four", [4, 4], 4, 4, [4, 2])
case("wide", [8, 4], 7, 3, [4, 4])
case("high", [4, 8], 2, 6, [2, 4])

suite.write()
