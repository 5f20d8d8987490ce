#!/usr/bin/env python3
"""Writes suite.toml and its pictures: binomial filter in whole numbers. Channels are multiples of 16, so results are whole
and round the same way whatever the device's precision."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, sampler

suite = Suite(
    __file__,
    "blur_image.cl",
    "blur_image",
    """Blur. Incomplete on purpose: the launch never has more rows than the picture. The two loops always run three times.""",
)


def case(name, stem, width, height, size, addressing, threshold):
    picture = [
        [[(x * 48 + y * 32 + c * 64 + x * y * 16) % 256 for c in range(3)] + [240 if (x + y) % 4 else 16] for x in range(width)]
        for y in range(height)
    ]

    def at(x, y, c):
        if addressing == "CLAMP_TO_EDGE":
            return picture[max(0, min(y, height - 1))][max(0, min(x, width - 1))][c]
        return picture[y][x][c] if 0 <= x < width and 0 <= y < height else 0

    out = []
    for y in range(height):
        for x in range(width):
            pixel = picture[y][x]
            if pixel[3] / 255 < threshold:
                out += pixel
                continue
            for c in range(3):
                total = sum((2 - abs(dx)) * (2 - abs(dy)) * at(x + dx, y + dy, c) for dx in (-1, 0, 1) for dy in (-1, 0, 1))
                assert total % 16 == 0
                out.append(total // 16)
            out.append(pixel[3])
    shape = [height, width, 4]
    src = suite.npy(f"{stem}_in.npy", "u1", shape, (v for row in picture for p in row for v in p))
    blank = suite.npy(f"{stem}_blank.npy", "u1", shape, [0] * len(out))
    want = suite.npy(f"{stem}_out.npy", "u1", shape, out)
    suite.test(
        name,
        size,
        {
            "src": suite.image("image2d", src, "RGBA", "UNORM_INT8"),
            "smp": sampler(addressing),
            "threshold": threshold,
            "dst": suite.image("image2d", blank, "RGBA", "UNORM_INT8", want),
        },
        local=[4, 4],
    )


case("edges repeated", "edges", 10, 8, [12, 8], "CLAMP_TO_EDGE", 0.0)
case("transparent pixels kept", "transparent", 8, 8, [8, 8], "CLAMP_TO_EDGE", 0.5)
case("nothing outside", "outside", 9, 12, [12, 12], "CLAMP", 0.25)
suite.write()
