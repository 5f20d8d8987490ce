#!/usr/bin/env python3
"""Writes suite.toml: the same generators in Python's integers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(
    __file__,
    "monte_carlo_pi.cl",
    "monte_carlo_pi",
    """Monte Carlo. Complete on purpose: work-item 0 of seed 0 starts from state 0, and one throw may miss.""",
)
MASK = 0xFFFFFFFF


def draws(state):
    while True:
        state ^= state << 13 & MASK
        state ^= state >> 17
        state ^= state << 5 & MASK
        yield state >> 17


def case(name, seed, throws, items, group):
    counts = []
    for gid in range(items):
        source = draws((seed ^ (gid * 2654435769 & MASK)) & 0x7FFFFFFF or 1)
        counts.append(sum(next(source) ** 2 + next(source) ** 2 < 1 << 30 for _ in range(throws)))
    groups = [sum(counts[g : g + group]) for g in range(0, items, group)]
    suite.test(
        name,
        [items],
        {
            "seed": seed,
            "throws": throws,
            "per_group": expect(fill(0, len(groups)), groups),
            "total": expect(fill(0, 1), [sum(groups)]),
        },
        local=[group],
    )


case("many throws", 12345, 50, 256, 64)
case("seed zero", 0, 7, 64, 16)
case("one throw", 99, 1, 128, 32)
suite.write()
