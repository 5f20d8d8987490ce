#!/usr/bin/env python3
"""Writes suite.toml: whole numbers and a rate of 1/4, so that results are exact."""

import random as dice
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "liu_diffusion_naive.cl", "liu_diffusion_naive", """LIU's kind of suite: three random grids and two made by hand (a single hot point, a plane), fitting the launch or not.""")
STRIPE = 1  # elements of a row that a work-item computes


def case(name, nx, ny, now):
    def after(x, y):
        if not (0 < x < nx - 1 and 0 < y < ny - 1):
            return -1.0
        at = lambda dx, dy: now[(y + dy) * nx + x + dx]
        return at(0, 0) + 0.25 * (at(0, 1) + at(0, -1) + at(1, 0) + at(-1, 0) - 4 * at(0, 0))

    want = [after(x, y) for y in range(ny) for x in range(nx)]
    size = [-(-nx // (4 * STRIPE)) * 4, -(-ny // 4) * 4]
    args = {"next": expect(fill(-1.0, nx * ny), want), "now": values(now), "nx": nx, "ny": ny, "rate": 0.25}
    suite.test(name, size, args, local=[4, 4])


for nx, ny in [(8, 8), (13, 6), (16, 11)]:
    dice.seed(nx)
    case(f"random, {nx} by {ny}", nx, ny, [float(4 * dice.randint(0, 50)) for _ in range(nx * ny)])
case("hot point", 8, 4, [float(400 * (i == 8 + 3)) for i in range(8 * 4)])
case("plane", 10, 9, [float(4 * (i % 10) + 8 * (i // 10)) for i in range(10 * 9)])
suite.write()
