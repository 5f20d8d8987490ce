#!/usr/bin/env python3
"""Writes suite.toml: every element one more."""

import random as dice
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, values

suite = Suite(__file__, "liu_increment.cl", "liu_increment", """LIU's kind of suite: five sizes, all of which the launch fits (there is no guard).""")
for n, local in [(8, 8), (16, 8), (48, 16), (60, 12), (128, 32)]:
    dice.seed(n)
    data = [dice.randint(-100, 100) for _ in range(n)]
    suite.test(f"{n} elements", [n], {"data": expect(values(data), [d + 1 for d in data])}, local=[local])
suite.write()
