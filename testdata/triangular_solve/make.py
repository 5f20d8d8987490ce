#!/usr/bin/env python3
"""Writes suite.toml: right-hand sides are made from chosen solutions of small whole numbers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "triangular_solve.cl",
    "triangular_solve",
    """Forward substitution. Complete on purpose, but the outer loop never runs zero times.""",
)


def case(name, n, sides, unit, zero_at=None):
    lower = [[float((3 * r + 5 * c) % 7 - 3) for c in range(r)] + [float(1 << r % 3)] for r in range(n)]
    x = [[float((r * 5 + s * 3) % 9 - 4) for s in range(sides)] for r in range(n)]
    diagonal = lambda r: 1.0 if unit else lower[r][r]
    b = [[sum(lower[r][c] * x[c][s] for c in range(r)) + diagonal(r) * x[r][s] for s in range(sides)] for r in range(n)]
    if zero_at is not None:
        lower[zero_at][zero_at] = 0.0
        x[zero_at:] = [[77.0] * sides] * (n - zero_at)
    suite.test(
        name,
        [64],
        {
            "lower": values(v for row in lower for v in row),
            "n": n,
            "unit_diagonal": int(unit),
            "b": values(v for row in b for v in row),
            "sides": sides,
            "x": expect(fill(77.0, n * sides), [v for row in x for v in row]),
            "failed_row": expect(fill(-5, sides), [-1 if zero_at is None else zero_at] * sides),
        },
        local=[16],
    )


case("divided by the diagonal", 5, 20, unit=False)
case("unit diagonal", 4, 12, unit=True)
case("one unknown", 1, 64, unit=False)
case("singular", 5, 8, unit=False, zero_at=3)
suite.write()
