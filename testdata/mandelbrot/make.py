#!/usr/bin/env python3
"""Writes suite.toml. Iterates in exact rational arithmetic, and refuses points where single precision could differ.

A point is accepted when iteration in single precision (each operation rounded) gives the count that exact arithmetic
gives, so that neither rounding nor contraction decides a test.
"""

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, f32, fill

suite = Suite(
    __file__,
    "mandelbrot.cl",
    "mandelbrot",
    """Mandelbrot set. Incomplete on purpose: y == old_y is never false where x == old_x (see hand.toml).""",
)


def exact(cx, cy, limit):
    x = y = Fraction(0)
    n = 0
    while n < limit and x * x + y * y <= 4:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        n += 1
        if max(x.denominator, y.denominator) > 1 << 4000:
            x, y = Fraction(float(x)), Fraction(float(y))
    return n if n < limit else -1


def single(cx, cy, limit):
    x = y = 0.0
    n = 0
    while n < limit and f32(f32(x * x) + f32(y * y)) <= 4:
        x, y = f32(f32(f32(x * x) - f32(y * y)) + cx), f32(f32(2 * x * y) + cy)
        n += 1
    return n if n < limit else -1


def case(name, width, height, size, x0, y0, step, limit, skip_bulbs, comment=None):
    want = []
    for py in range(height):
        for px in range(width):
            cx, cy = Fraction(x0) + px * Fraction(step), Fraction(y0) + py * Fraction(step)
            n = exact(cx, cy, limit)
            assert n == single(float(cx), float(cy), limit), (name, px, py)
            want.append(n)
    suite.test(
        name,
        size,
        {
            "iterations": expect(fill(0, width * height), want),
            "width": width,
            "height": height,
            "x0": float(x0),
            "y0": float(y0),
            "step": float(step),
            "limit": limit,
            "skip_bulbs": skip_bulbs,
        },
        local=[8, 4],
        comment=comment,
    )


case("the whole set, coarsely", 12, 8, [16, 8], -2.0, -1.0, 0.25, 24, 0)
case("the bulbs skipped", 12, 8, [16, 8], -2.0, -1.0, 0.25, 24, 1)
case("fewer rows than work-items", 8, 6, [8, 8], -1.5, -0.75, 0.25, 16, 0)
suite.write()
