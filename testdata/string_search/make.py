#!/usr/bin/env python3
"""Writes suite.toml: searches by Python's regular expressions."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "string_search.cl",
    "string_search",
    """String search. Complete on purpose but for one condition outcome: no test has an empty pattern
(see hand.toml).""",
)


def case(name, text, pattern, ignore_case=False):
    flags = re.IGNORECASE if ignore_case else 0
    regex = re.compile("(?=" + "".join("[^\\n]" if c == "?" else re.escape(c) for c in pattern) + ")", flags)
    hits = {m.start() for m in regex.finditer(text)}
    room = 64
    want = [int(i in hits) for i in range(len(text))] + [9] * (room - len(text))
    suite.test(
        name,
        [64],
        {
            "text": values(text.encode()),
            "text_len": len(text),
            "pattern": values(pattern.encode()),
            "pattern_len": len(pattern),
            "ignore_case": int(ignore_case),
            "hit": expect(fill(9, room), want),
            "hits": expect(values([0]), [len(hits)]),
        },
        local=[16],
    )


case("plain", "the cat sat on the other mat", "the")
case("wildcard over lines", "a line\nb lime\nc like\nlid", "li?e")
case("letters of any case", "Kernel kERNEL kernels [colonel] KERN", "kern", ignore_case=True)
case("pattern longer than the text", "short", "much too long")
suite.write()
