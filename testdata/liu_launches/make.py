#!/usr/bin/env python3
"""Writes suite_array_bean.toml: accounts as bytes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite


def raw(accounts):
    words = [w for balance, limit, moves in accounts for w in (balance, limit, *moves)]
    return [b for w in words for b in w.to_bytes(4, "little", signed=True)]


suite = Suite(
    __file__,
    "../liu_array_bean/liu_array_bean.cl",
    "liu_array_bean",
    "Moves of nothing, an account exactly at its limit, and one that is rich enough for the last branch.",
)
before = [(0, 0, (0, 0, 0, 0)), (-40, 48, (0, 0, 0, 0)), (1000800, 0, (0, 0, 0, 0)), (2000000, 0, (5, -5, 300, 0))]
after = [(-28, 0, (0,) * 4), (-48, 48, (0,) * 4), (1000693, 0, (0,) * 4), (1875257, 0, (0,) * 4)]
files = suite.npy("accounts_in.npy", "u1", (4, 24), raw(before)), suite.npy("accounts_out.npy", "u1", (4, 24), raw(after))
suite.test("boundaries", [4], {"accounts": {"npy": files[0], "expect": {"npy": files[1]}}, "n": 4, "fee": 2}, local=[2])
suite.write("suite_array_bean.toml")
