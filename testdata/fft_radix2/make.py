#!/usr/bin/env python3
"""Writes suite.toml: discrete Fourier transforms by their definition, in double precision."""

import cmath
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(
    __file__,
    "fft_radix2.cl",
    "fft_radix2",
    """Fourier transforms. Complete on purpose, but no loop can run zero times (a block has at least two numbers).""",
    tolerance={"abs": 1e-4, "rel": 1e-5},
)


def case(name, data, group, inverse=False):
    length, out = 2 * group, []
    for first in range(0, len(data), length):
        block = data[first : first + length]
        sign = 1 if inverse else -1
        for k in range(length):
            x = sum(v * cmath.exp(sign * 2j * cmath.pi * k * i / length) for i, v in enumerate(block))
            out.append(x / length if inverse else x)
    flat = lambda zs: [float(f"{part:.9g}") + 0.0 for z in zs for part in (z.real, z.imag)]
    suite.test(
        name,
        [len(data) // 2],
        {
            "in": values(flat(data)),
            "out": expect(fill(0.0, len(data)), flat(out)),
            "inverse": int(inverse),
            "block": local(8 * length),
        },
        local=[group],
    )


case("unit impulses, moved along", [complex(i % 16 == i // 16) for i in range(128)], 8)
case("whole numbers", [complex((7 * i) % 13 - 6, (5 * i) % 11 - 5) for i in range(128)], 32)
case("back again", [complex((3 * i) % 17 - 8, (11 * i) % 7 - 3) for i in range(128)], 16, inverse=True)
case("blocks of two", [complex(i, -i) for i in range(128)], 1)
suite.write()
