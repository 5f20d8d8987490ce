#!/usr/bin/env python3
"""Writes suite.toml: convolutions over whole numbers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, random, values

suite = Suite(
    __file__,
    "convolution_2d.cl",
    "convolution_2d",
    """Convolution. Incomplete on purpose: pictures are never lower than the launch, so gy >= height stays false.""",
    options=["-DTILE=4"],
)


def case(name, width, height, size, radius, clamped):
    side = 2 * radius + 1
    picture = [[(7 * x + 5 * y + x * y) % 19 - 9 for x in range(width)] for y in range(height)]
    weights = [[(3 * i + 2 * j) % 5 - 2 for i in range(side)] for j in range(side)]

    def at(x, y):
        if clamped:
            return picture[max(0, min(y, height - 1))][max(0, min(x, width - 1))]
        return picture[y][x] if 0 <= x < width and 0 <= y < height else 0

    want = [
        float(sum(weights[j][i] * at(x + i - radius, y + j - radius) for j in range(side) for i in range(side)))
        for y in range(height)
        for x in range(width)
    ]
    suite.test(
        name,
        size,
        {
            "picture": values(float(p) for row in picture for p in row),
            "filter": values(float(w) for row in weights for w in row),
            "result": expect(fill(-1000.0, width * height), want),
            "width": width,
            "height": height,
            "radius": radius,
            "clamped": int(clamped),
        },
        local=[4, 4],
    )


case("three by three, zero outside", 10, 8, [12, 8], 1, False)
case("five by five, clamped", 8, 8, [8, 8], 2, True)
case("one by one", 7, 8, [8, 8], 0, False)
suite.test(
    "noise, without expectation",
    [16, 8],
    {
        "picture": random(16 * 8, 3, -1.0, 1.0),
        "filter": random(9, 4, 0.0, 1.0),
        "result": fill(0.0, 16 * 8),
        "width": 16,
        "height": 8,
        "radius": 1,
        "clamped": 1,
    },
    local=[4, 4],
    comment="The unmutated kernel's output is the reference.",
)
suite.write()
