#!/usr/bin/env python3
"""Writes suite.toml: hashes in Python's integers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, values

suite = Suite(
    __file__,
    "hash_fnv.cl",
    "hash_fnv",
    """Hashes. Incomplete on purpose: the switch's default (an unknown mode) is never taken. Hashes are in .npy files,
for TOML has no unsigned 64-bit integers.""",
)
MASK = (1 << 64) - 1
PRIME, BASIS = 1099511628211, 14695981039346656037


def fnv1(data):
    h = BASIS
    for b in data:
        h = (h * PRIME & MASK) ^ b
    return h


def fnv1a(data):
    h = BASIS
    for b in data:
        h = (h ^ b) * PRIME & MASK
    return h


def djb2(data):
    h = 5381
    for b in data:
        h = (33 * h + b) & MASK
    return h


assert fnv1a(b"foobar") == 0x85944171F73967E8 and fnv1(b"foobar") == 0x340D8765A4DDA9C2  # published test vectors


def case(name, strings, mode, bits=64):
    offsets = [0]
    for s in strings:
        offsets.append(offsets[-1] + len(s))
    hashes = [[fnv1, fnv1a, djb2][mode](s) for s in strings]
    if bits < 64:
        hashes = [(h >> bits) ^ (h & ((1 << bits) - 1)) for h in hashes]
    file = suite.npy(f"{name.replace(' ', '_')}.npy", "u8", [len(strings) + 1], hashes + [7])
    suite.test(
        name,
        [64],
        {
            "bytes": values(b"".join(strings)),
            "offsets": values(offsets),
            "count": len(strings),
            "mode": mode,
            "bits": bits,
            "hashes": {"fill": 7, "len": len(strings) + 1, "expect": {"npy": file}},
        },
        local=[16],
    )


words = [b"foobar", b"", b"a", b"kernel", bytes(range(250, 256)), b"the quick brown fox jumps over the lazy dog"]
case("fnv1", words, 0)
case("fnv1a folded", words, 1, 32)
case("djb2", words[::-1], 2)
suite.write()
