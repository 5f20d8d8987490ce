#!/usr/bin/env python3
"""Writes suite.toml: edit distances by memoised recursion."""

import sys
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "levenshtein.cl",
    "levenshtein",
    """Edit distance. Incomplete on purpose: no test sets a limit, and no pair is of two empty words (the loop never runs
exactly once).""",
)


@lru_cache(None)
def edit(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(edit(a[1:], b[1:]) + (a[0] != b[0]), edit(a[1:], b) + 1, edit(a, b[1:]) + 1)


def case(name, pairs, group=16):
    padded = lambda k: [c for p in pairs for c in p[k].encode().ljust(16, b"\0")]
    suite.test(
        name,
        [len(pairs) * group],
        {
            "first": values(padded(0)),
            "second": values(padded(1)),
            "lengths": values(len(w) for p in pairs for w in p),
            "distance": expect(fill(-9, len(pairs)), [edit(a, b) for a, b in pairs]),
            "limit": 0,
        },
        local=[group],
    )


case("words", [("kitten", "sitting"), ("flaw", "lawn"), ("barrier", "barrier"), ("gumbo", "gambol")])
case("empty words", [("", "private"), ("global", ""), ("a", "b"), ("constant", "instant")])
case("larger groups", [("work-item", "work-group"), ("intermezzo", "interlude")], 32)
suite.write()
