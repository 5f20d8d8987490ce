#!/usr/bin/env python3
"""Writes suite.toml and its volume: slices and projections by list indexing."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, sampler

suite = Suite(
    __file__,
    "volume_slice.cl",
    "volume_slice",
    """Slices of a volume. Incomplete on purpose: no unknown axis (the switch's default), no empty range of depths.""",
)
WIDTH, HEIGHT, DEPTH = 10, 7, 5
volume = [[[(x * 31 + y * 17 + z * 57 + x * y * z) % 256 for x in range(WIDTH)] for y in range(HEIGHT)] for z in range(DEPTH)]
file = suite.npy("volume.npy", "u1", [DEPTH, HEIGHT, WIDTH], (v for plane in volume for row in plane for v in row))


def case(name, axis, start, end):
    pick = [lambda d, u, v: volume[v][u][d], lambda d, u, v: volume[v][d][u], lambda d, u, v: volume[d][v][u]][axis]
    columns, rows = [(HEIGHT, DEPTH), (WIDTH, DEPTH), (WIDTH, HEIGHT)][axis]
    out = [max(pick(d, u, v) for d in range(start, end)) for v in range(rows) for u in range(columns)]
    suite.test(
        name,
        [12, 8],
        {
            "volume": suite.image("image3d", file, "R", "UNSIGNED_INT8"),
            "smp": sampler("CLAMP"),
            "axis": axis,
            "from": start,
            "to": end,
            "size": [columns, rows],
            "slice": expect(fill(999, columns * rows), out),
        },
        local=[4, 4],
    )


case("one slice across x", 0, 6, 7)
case("a slab across y", 1, 2, 5)
case("projection along z", 2, 0, DEPTH)
suite.write()
