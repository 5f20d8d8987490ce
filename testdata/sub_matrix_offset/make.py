#!/usr/bin/env python3
"""Writes suite.toml: regions of a volume in nested loops. Sums at the seam are even."""

import sys
from math import prod
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, arange, expect, fill, values

suite = Suite(
    __file__,
    "sub_matrix_offset.cl",
    "sub_matrix_offset",
    """Region of a volume. Complete on purpose (the kernel has no loop).""",
)
WIDTH, HEIGHT, DEPTH = 9, 7, 6
N = WIDTH * HEIGHT * DEPTH


def case(name, size, group, offset, factor, seam):
    out = [2 * (i % 10) for i in range(N)]
    for z in range(offset[2], min(offset[2] + size[2], DEPTH)):
        for y in range(offset[1], min(offset[1] + size[1], HEIGHT)):
            for x in range(offset[0], min(offset[0] + size[0], WIDTH)):
                i = (z * HEIGHT + y) * WIDTH + x
                total = out[i] + factor * (3 + 2 * i)
                out[i] = int(total / 2) if seam and z == offset[2] else total
    groups = prod(s // g for s, g in zip(size, group))
    suite.test(
        name,
        size,
        {
            "in": arange(N, 3, 2),
            "out": expect(values([2 * (i % 10) for i in range(N)]), out),
            "width": WIDTH,
            "height": HEIGHT,
            "depth": DEPTH,
            "factor": factor,
            "seam": int(seam),
            "groups": expect(fill(0, groups), [prod(group)] * groups),
        },
        local=group,
        offset=offset,
    )


case("inner region", [4, 4, 4], [2, 2, 2], [3, 2, 1], 3, False)
case("with a seam", [8, 4, 2], [4, 2, 1], [1, 0, 2], -2, True)
case("over the corner", [8, 8, 4], [4, 4, 2], [5, 3, 4], 1, False)
suite.write()
