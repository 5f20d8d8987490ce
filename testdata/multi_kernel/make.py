#!/usr/bin/env python3
"""Writes a suite for each of the three kernels."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

FILE = "multi_kernel.cl"
data = [float((11 * i) % 37 - 18) for i in range(60)]


def normalise():
    suite = Suite(__file__, FILE, "normalise", """Normalising. Complete on purpose.""")

    def case(name, low, high, out):
        suite.test(
            name,
            [64],
            {"in": values(data), "out": expect(fill(-5.0, 60), out), "n": 60, "low": low, "high": high},
            local=[16],
        )

    case("to a range of eight", -4.0, 4.0, [(min(max(x, -4), 4) + 4) / 8 for x in data])
    case("to a wide range", -32.0, 32.0, [(x + 32) / 64 for x in data])
    case("to an empty range", 1.0, 1.0, [0.0] * 60)
    suite.write("suite_normalise.toml")


def threshold():
    suite = Suite(__file__, FILE, "threshold", """Thresholding. Incomplete on purpose: every number is finite.""")

    def case(name, n, low, high, level):
        mask = [255 * (min(max(x, low), high) >= level) for x in data[:n]] + [7] * (60 - n)
        suite.test(
            name,
            [64],
            {
                "in": values(data),
                "mask": expect(fill(7, 60), mask),
                "n": n,
                "low": low,
                "high": high,
                "level": level,
            },
            local=[16],
        )

    case("level within the range", 60, -10.0, 10.0, 3.0)
    case("level above the range", 33, -10.0, 2.0, 3.0)
    case("no number", 0, -10.0, 10.0, 0.0)
    suite.write("suite_threshold.toml")


def block_sum():
    suite = Suite(__file__, FILE, "block_sum", """Sums of blocks. Complete on purpose.""")

    def case(name, n, block):
        sums = [float(sum(data[g * block : min((g + 1) * block, n)])) for g in range(64)]
        suite.test(
            name,
            [64],
            {"in": values(data), "sums": expect(fill(-5.0, 64), sums), "n": n, "block": block},
            local=[8],
        )

    case("blocks of five", 58, 5)
    case("blocks of one", 60, 1)
    case("empty blocks", 60, 0)
    suite.write("suite_block_sum.toml")


normalise()
threshold()
block_sum()
