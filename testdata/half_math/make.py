#!/usr/bin/env python3
"""Writes suite.toml: values whose products and sums half precision holds exactly, or that overflow it."""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, f16, fill, values

suite = Suite(
    __file__,
    "half_math.cl",
    "half_math",
    """Half precision. Complete on purpose, but both loops always run four times. Needs cl_khr_fp16.""",
)


def case(name, data, scale, shift, wide):
    out = []
    for x in data:
        y = x * scale + shift
        if abs(y) >= 65520:
            assert abs(x * scale) >= 65520 or not wide
            y = math.copysign(math.inf, y)
        else:
            assert f16(x * scale) == x * scale and f16(y) == y
        out.append(y)
    suite.test(
        name,
        [len(data) // 4],
        {
            "in": values(data),
            "out": expect(fill(0.0, len(data)), out),
            "scale": scale,
            "shift": shift,
            "wide": wide,
            "overflows": expect(fill(0, 1), [sum(map(math.isinf, out))]),
        },
        local=[16],
    )


data = [float((7 * i) % 61 - 30) / 4 for i in range(256)]
case("in float", data, 0.5, 2.0, 1)
case("in half", data, -2.0, 0.25, 0)
case("overflow in half", [x * 4096 for x in data], 4.0, 0.0, 0)
suite.write()
