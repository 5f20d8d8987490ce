#!/usr/bin/env python3
"""Writes suite.toml: the best of all subsets, by trying every one."""

import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, local, values

suite = Suite(__file__, "knapsack_dp.cl", "knapsack_dp", """Knapsack. Complete on purpose.""")


def case(name, instances, capacity, group):
    items = len(instances[0])
    best = []
    for instance in instances:
        usable = [(w, p) for w, p in instance if w >= 0 and p > 0]
        taken = ([(w, p) for (w, p), t in zip(usable, ts) if t] for ts in product((0, 1), repeat=len(usable)))
        best.append(max(sum(p for _, p in s) for s in taken if sum(w for w, _ in s) <= capacity))
    suite.test(
        name,
        [len(instances) * group],
        {
            "weights": values([w for i in instances for w, _ in i] or [0]),
            "prices": values([p for i in instances for _, p in i] or [0]),
            "items": items,
            "capacity": capacity,
            "best_price": expect(fill(-1, len(instances)), best),
            "rows": local(8 * (capacity + 1)),
        },
        local=[group],
    )


case("eight items", [[(3 + (5 * i + 2 * j) % 9, 1 + (7 * i + 3 * j) % 12) for i in range(8)] for j in range(4)], 25, 16)
case("items to be left out", [[(2, 5), (-1, 9), (4, 0), (3, 6)], [(0, 1), (6, 7), (5, -3), (1, 1)]], 6, 32)
case("one item", [[(4, 7)], [(11, 7)]], 10, 32)
case("no item", [[]], 100, 64)
suite.write()
