#!/usr/bin/env python3
"""Writes suite.toml of skip_first_round."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(__file__, "skip_first_round.cl", "skip_once", "Tests that show the faults of the variants in `faults`.")

def case(name, groups, size, rounds):
    data = [(5 * k * k + 1) % 12 for k in range(groups * size)]
    out = []
    for first in range(0, len(data), size):
        tile = data[first : first + size]
        for r in range(rounds):
            tile = [v if r == 0 and k % 2 else v + tile[(k + 1) % size] for k, v in enumerate(tile)]
        out += tile
    suite.test(name, [len(data)], {"in": values(data), "out": expect(fill(-1, len(data)), out), "rounds": rounds}, local=[size])


case("three rounds", 2, 8, 3)
case("one round", 1, 16, 1)
case("none", 2, 4, 0)
case("groups of one", 3, 1, 2)

suite.write()
