#!/usr/bin/env python3
"""Writes suite.toml: eliminates in exact rational arithmetic; every value fits single precision exactly."""

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, f32, fill, values

suite = Suite(
    __file__,
    "lu_step.cl",
    "lu_step",
    """LU factorisation, one step. Incomplete on purpose: the pivot is always finite, so one condition outcome is missing,
and the loop's body always runs at least once (see hand.toml).""",
)


def step(a, n, k):
    a = [[Fraction(x) for x in a[r * n : (r + 1) * n]] for r in range(n)]
    for r in range(k + 1, n):
        factor = a[r][k] / a[k][k]
        if factor:
            for c in range(k, n):
                a[r][c] -= factor * a[k][c]
            a[r][k] = factor
    out = [float(x) for row in a for x in row]
    assert all(f32(x) == x for x in out)
    return out


def case(name, a, n, k, comment=None):
    singular = a[k * n + k] == 0
    want = a if singular else step(a, n, k)
    suite.test(
        name,
        [64],
        {
            "a": expect(values(a), want),
            "n": n,
            "k": k,
            "status": expect(fill(-7, 1), [k + 1 if singular else 0]),
        },
        local=[16],
        comment=comment,
    )
    return want


n = 6
lower = [[1 if c == r else (((r + 2 * c) % 5) - 2) / 2 if c < r else 0 for c in range(n)] for r in range(n)]
upper = [[(2.0 if c == r else (r * 3 + c) % 7 - 3) if c >= r else 0 for c in range(n)] for r in range(n)]
a = [float(sum(lower[r][i] * upper[i][c] for i in range(n))) for r in range(n) for c in range(n)]

after = case("first column", a, n, 0)
for k in range(1, n - 2):
    after = step(after, n, k)
last = case("last column", after, n, n - 2, "one row and one element to eliminate")
assert last == [float(upper[r][c] if c >= r else lower[r][c]) for r in range(n) for c in range(n)]
case("no pivot", [0.0, 1.0, 2.0, 3.0], 2, 0)
suite.write()
