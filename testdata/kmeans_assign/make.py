#!/usr/bin/env python3
"""Writes suite.toml: nearest centres over whole numbers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(
    __file__,
    "kmeans_assign.cl",
    "kmeans_assign",
    """k-means assignment. Complete on purpose (see hand.toml).""",
)


def case(name, points, centres, dims, before, group, items, comment=None):
    n, k = len(before), len(centres) // dims if dims else 2
    after = []
    for p in range(n):
        d = [sum((points[p * dims + i] - centres[c * dims + i]) ** 2 for i in range(dims)) for c in range(k)]
        after.append(d.index(min(d)) if d else -1)
    changes = [sum(after[p] != before[p] for p in range(g, min(g + group, n))) for g in range(0, items, group)]
    suite.test(
        name,
        [items],
        {
            "points": values(map(float, points or [0])),
            "centres": values(map(float, centres or [0])),
            "n": n,
            "k": k,
            "dims": dims,
            "assignment": expect(values(before), after),
            "changes": expect(fill(-1, items // group), changes),
            "scratch": local(4 * group),
        },
        local=[group],
        comment=comment,
    )


points = [(17 * i) % 41 - 20 for i in range(2 * 60)]
case("four centres in the plane", points, [-10, -10, 10, -10, -10, 10, 10, 10], 2, [i % 4 for i in range(60)], 16, 64)
case("one centre, one dimension", points[:64], [0], 1, [0] * 32 + [-1] * 32, 2, 64, "each loop's body runs once for some work-item")
case("no centre", points[:64], [], 1, [-1] * 64, 1, 64, "the loops over centres and over halves run zero times")
case("no dimension", [], [], 0, [0, 1] * 10, 64, 64, "all centres are equally near")
suite.write()
