#!/usr/bin/env python3
"""Writes suite.toml: generations over sets of living cells."""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "game_of_life.cl",
    "game_of_life",
    """Game of life. Incomplete on purpose: only tori, so the plate's decision is never reached (see hand.toml).""",
)


def case(name, picture):
    rows = picture.split()
    height, width = len(rows), len(rows[0])
    alive = {(x, y) for y in range(height) for x in range(width) if rows[y][x] == "#"}
    around = Counter(
        ((x + dx) % width, (y + dy) % height) for x, y in alive for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy
    )
    born = {c for c, n in around.items() if n == 3 or (n == 2 and c in alive)}
    grid = [(x, y) for y in range(height) for x in range(width)]
    suite.test(
        name,
        [width, height],
        {
            "cells": values(int(c in alive) for c in grid),
            "next": expect(fill(7, width * height), [int(c in born) for c in grid]),
            "width": width,
            "height": height,
            "torus": 1,
        },
        local=[4, 4],
    )


case("glider", "........ ..#..... ...#.... .###.... ........ ........ ........ ........")
case("blinker over the edge", "#....... #....... ........ ........ ........ ........ ........ #.......")
case("soup", "#.##..#. .##.#..# ##..#.## ..#.##.. #.#.#.#. .###..## #..##.#. ##.#..##")
suite.write()
