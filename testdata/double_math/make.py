#!/usr/bin/env python3
"""Writes suite.toml: equations made from their roots, which double precision holds exactly."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "double_math.cl",
    "double_math",
    """Quadratic equations. Incomplete on purpose: no equation is 0 = 0 or a contradiction, so c is never asked.""",
    tolerance={"abs": 0.0, "rel": 1e-12},
)
NOTHING = -999.0
NONE, ONE, TWO, LINEAR = range(4)


def from_roots(a, r, s):
    return ([a, -a * (r + s), a * r * s], (ONE if r == s else TWO), sorted([r, s]))


def case(name, equations, items=64):
    suite.test(
        name,
        [items],
        {
            "coefficients": values(float(v) for e, _, _ in equations for v in e),
            "roots": expect(fill(0.0, len(equations)), [float(v) for _, _, r in equations for v in r]),
            "kinds": expect(fill(-1, len(equations)), [k for _, k, _ in equations]),
            "n": len(equations),
            "nothing": NOTHING,
        },
        local=[16],
    )


case("two roots", [from_roots(1 + i % 3, i - 20, i % 7 + 41) for i in range(60)])
case("roots far apart", [from_roots(1.0, 2.0**-20 * (i + 1), 2.0**20 + i) for i in range(16)])
case(
    "other cases",
    [from_roots(2, i - 5, i - 5) for i in range(11)]
    + [([1, 2 * i, i * i + 1 + i], NONE, [NOTHING, NOTHING]) for i in range(10)]
    + [([0, 4, 3 * i], LINEAR, [-0.75 * i, NOTHING]) for i in range(10)],
)
suite.write()
