#!/usr/bin/env python3
"""Writes suite.toml and its palette: look-ups in a list."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "palette_1d.cl", "palette_1d", """Palette look-up. Complete on purpose (the kernel has no loop).""")
palette = [[(i * 23 + c * 71) % 256 for c in range(3)] + [255 - i] for i in range(16)]
file = suite.npy("palette.npy", "u1", [16, 4], (v for colour in palette for v in colour))


def case(name, transparent, gain, spread):
    indices = [(x * 3 + y * 7) % spread for y in range(8) for x in range(16)]
    out = []
    for i in indices:
        *colour, alpha = palette[min(i, 15)]
        out += [50] * 4 if i == transparent else [min(255, c * gain) for c in colour] + [alpha]
    suite.test(
        name,
        [16, 8],
        {
            "indices": values(indices),
            "palette": suite.image("image1d", file, "RGBA", "UNSIGNED_INT8"),
            "transparent": transparent,
            "gain": gain,
            "picture": expect(values([50] * len(out)), out),
        },
        local=[8, 4],
    )


case("all colours", -1, 1, 16)
case("transparent, brighter", 5, 3, 16)
case("indices beyond the palette", -1, 1, 25)
suite.write()
