#!/usr/bin/env python3
"""Writes suite.toml: divides polynomials bit by bit, without a table."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_tables.clcpp",
    "clcpp_tables",
    """Both orders of half-bytes, an empty message.""",
)


def digest(message, reflected):
    crc = 15
    for byte in message:
        halves = [byte >> 4, byte & 15] if reflected else [byte & 15, byte >> 4]
        for half in halves:
            crc ^= half
            for _ in range(4):
                crc = crc >> 1 ^ (0xC if crc & 1 else 0)
    return crc


def case(name, messages, reflected):
    flat = [b for message in messages for b in message] or [0]
    args = {
        "bytes": values(flat),
        "count": len(messages[0]),
        "reflected": reflected,
        "out": expect(fill(55, len(messages)), [digest(message, reflected) for message in messages]),
    }
    suite.test(name, [len(messages)], args)


case("low half first", [[0x12, 0x34, 0x56], [0xFF, 0x00, 0xA5], [7, 8, 9]], 0)
case("high half first", [[0x12, 0x34, 0x56], [0xFF, 0x00, 0xA5], [7, 8, 9]], 1)
case("empty messages", [[], []], 0)

suite.write()
