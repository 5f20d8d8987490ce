#!/usr/bin/env python3
"""Writes suite.toml: accounts as bytes."""

import random as dice
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite

suite = Suite(__file__, "liu_array_bean.cl", "liu_array_bean", """LIU's kind of suite: two arrays of random accounts.""")


def quotient(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


def booked(balance, limit, moves, fee):
    gain = sum(m - quotient(m, 100) for m in moves if m > 0)
    after = balance + gain - sum(fee - m for m in moves if m <= 0)
    if after + limit < 0:
        after -= fee * 10
    return after, limit, [0] * 4


def raw(accounts):
    words = [w for balance, limit, moves in accounts for w in (balance, limit, *moves)]
    return [b for w in words for b in w.to_bytes(4, "little", signed=True)]


for name, n, size, local, fee in [("small", 5, 8, 4, 3), ("larger", 20, 24, 8, 1)]:
    dice.seed(n)
    moves = lambda: [dice.randint(-900, 900) for _ in range(4)]
    accounts = [(dice.randint(-500, 2000), dice.randint(0, 300), moves()) for _ in range(n)]
    before = suite.npy(f"{name}_in.npy", "u1", (n, 24), raw(accounts))
    after = suite.npy(f"{name}_out.npy", "u1", (n, 24), raw([booked(*a, fee) for a in accounts]))
    args = {"accounts": {"npy": before, "expect": {"npy": after}}, "n": n, "fee": fee}
    suite.test(name, [size], args, local=[local])
suite.write()
