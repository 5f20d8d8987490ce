#!/usr/bin/env python3
"""Writes suite.toml and its pictures: Sobel operators in whole numbers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite

suite = Suite(__file__, "sobel_image.cl", "sobel_image", """Sobel. Complete on purpose (the kernel has no loop).""")
GX = [(-1, -1, -1), (1, -1, 1), (-1, 0, -2), (1, 0, 2), (-1, 1, -1), (1, 1, 1)]


def case(name, stem, picture, threshold):
    height, width = len(picture), len(picture[0])
    out = []
    for y in range(height):
        for x in range(width):
            if 0 < x < width - 1 and 0 < y < height - 1:
                gx = sum(k * picture[y + dy][x + dx] for dx, dy, k in GX)
                gy = sum(k * picture[y + dx][x + dy] for dx, dy, k in GX)
                strength = abs(gx) + abs(gy)
                out.append(float(strength >= threshold) if threshold > 0 else float(strength))
            else:
                out.append(0.0)
    shape = [height, width]
    src = suite.npy(f"{stem}_in.npy", "f4", shape, (float(v) for row in picture for v in row))
    blank = suite.npy(f"{stem}_blank.npy", "f4", shape, [-1.0] * (width * height))
    want = suite.npy(f"{stem}_out.npy", "f4", shape, out)
    suite.test(
        name,
        [width, height],
        {
            "src": suite.image("image2d", src, "R", "FLOAT"),
            "dst": suite.image("image2d", blank, "R", "FLOAT", want),
            "threshold": threshold,
        },
        local=[4, 4],
    )


case("slope", "slope", [[3 * x + 2 * y + (x * y) % 5 for x in range(12)] for y in range(8)], 0.0)
case("box, black and white", "box", [[8 * (2 <= x < 6 and 3 <= y < 7) for x in range(8)] for y in range(12)], 16.0)
case("flat", "flat", [[5] * 8 for _ in range(8)], 0.0)
suite.write()
