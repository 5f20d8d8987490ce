#!/usr/bin/env python3
"""Writes suite.toml and its .npy files: sixteen numbers at a time, in lists."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, values

suite = Suite(
    __file__,
    "long_vectors.cl",
    "long_vectors",
    """Wide vectors. Incomplete on purpose: no number is NaN, so any(isnan(x)) is never true.""",
)
ITEMS = 64


def case(name, stem, number, limit):
    numbers, sums, signs, shuffled, flags, orders, data = [], [], [], [], [], [], []
    limits = [float(limit + i % 2) for i in range(16)]
    for g in range(ITEMS):
        x = [float(number(g, i)) for i in range(16)]
        order = [(g * 5 + i * 3) % 16 for i in range(16)]
        block = [(g * 16 + i * 7) % 256 for i in range(16)]
        numbers += x
        orders += order
        data += block
        flag = int(any(a > b for a, b in zip(x, limits)))
        x = [min(a, b) for a, b in zip(x, limits)]
        flag += 2 * all(a >= 0 for a in x) + 4 * (x[:8] == x[8:])
        sums.append(sum(x))
        signs += [(a > 0) - (a < 0) for a in x[:8]]
        mixed = [block[o] for o in order]
        shuffled += mixed[::-1] if flag & 1 else mixed
        flags.append(flag)
    rows = [ITEMS, 16]
    suite.test(
        name,
        [ITEMS],
        {
            "numbers": {"npy": suite.npy(f"{stem}_numbers.npy", "f4", rows, numbers)},
            "order": {"npy": suite.npy(f"{stem}_order.npy", "u1", rows, orders)},
            "bytes": {"npy": suite.npy(f"{stem}_bytes.npy", "u1", [16 * ITEMS], data)},
            "limits": limits,
            "sums": expect(values([0.0] * ITEMS), sums),
            "signs": expect(values([9] * (8 * ITEMS)), signs),
            "shuffled": {
                "npy": suite.npy(f"{stem}_blank.npy", "u1", rows, [0] * (16 * ITEMS)),
                "expect": {"npy": suite.npy(f"{stem}_shuffled.npy", "u1", rows, shuffled)},
            },
            "flags": expect(values([-1] * ITEMS), flags),
        },
        local=[16],
    )


case("mixed signs", "mixed", lambda g, i: (g * 7 + i * 5) % 23 - 11, 6)
case("no negative number", "positive", lambda g, i: (g + i) % 9, 7)
case("halves alike, none too large", "alike", lambda g, i: (g * 3 + i % 8) % 11 - 5, 100)
suite.write()
