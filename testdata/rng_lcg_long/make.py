#!/usr/bin/env python3
"""Writes suite.toml and its .npy files: generators stepped one by one in Python's integers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill

suite = Suite(
    __file__,
    "rng_lcg_long.cl",
    "rng_lcg_long",
    """Linear congruential generators. Incomplete on purpose: method 1 (multiply high) is never chosen.""",
)
MASK = (1 << 64) - 1


def case(name, stem, seed, increment, factor32, shift, stride, floor_value, method, bias, items=64):
    factor = factor32 << 32 | 0x4C957F2D
    states, state = [], seed
    for _ in range(items):
        states.append(state)
        for _ in range(stride):
            state = (state * factor + increment) & MASK
    numbers = []
    for s in states:
        high = s >> shift & 0xFFFFFFFF
        if method == 0:
            number = high % 1000
        else:
            number = (high & 0xFFFF) - (0x10000 if high & 0x8000 else 0) >> 4
        numbers.append(max(number + bias, floor_value))
    suite.test(
        name,
        [items],
        {
            "seed": seed,
            "increment": increment,
            "factor32": factor32,
            "shift": shift,
            "stride": stride,
            "floor_value": floor_value,
            "method": method,
            "bias": bias,
            "states": {"fill": 0, "len": items, "expect": {"npy": suite.npy(f"{stem}.npy", "u8", [items], states)}},
            "numbers": expect(fill(0, items), numbers),
        },
        local=[16],
    )


case("by remainder", "remainder", 88172645463325252, 1442695040888963407, 0x5851F42D, 32, 3, 100, 0, 10)
case("narrowed", "narrowed", 1, -7046029254386353131, 0x9E3779B9, 17, 1, -2000, 2, -100)
case("standing still", "still", 9007199254740993, 5, 4000000000, 40, 0, -32768, 0, 127)
suite.write()
