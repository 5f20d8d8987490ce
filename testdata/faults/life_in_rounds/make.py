#!/usr/bin/env python3
"""Writes suite.toml of life_in_rounds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "life_in_rounds.cl", "life", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, rounds):
    start = [int((5 * k * k + 3 * k) % 7 < 3) for k in range(groups * size)]
    out = []
    for g in range(groups):
        cells = start[g * size : (g + 1) * size]
        for _ in range(rounds):
            cells = [int(cells[(k + 1) % size] + cells[k - 1] == 1) for k in range(size)]
        out += cells
    args = {"in": values(start), "out": expect(fill(-1, groups * size), out), "rounds": rounds}
    suite.test(name, [groups * size], args, local=[size])


case("one round", 2, 16, 1)
case("three rounds", 3, 8, 3)
case("none", 1, 16, 0)

suite.write()
