#!/usr/bin/env python3
"""Writes suite.toml. With all 64 rounds a one-block message must give what hashlib's SHA-256 gives; fewer rounds are
computed by a plain round loop that is first held against hashlib too."""

import hashlib
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "sha_like.cl",
    "sha_like",
    """Compression function. Complete on purpose but for loop classes: the loops over words always run 16 or 8 times.""",
)
MASK = 0xFFFFFFFF


def fraction(n, root):
    """The first 32 fractional bits of a root of n, in whole numbers."""
    low, high = 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**root <= n << 32 * root else (low, middle)
    return low & MASK


PRIMES = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
ROUND_CONSTANTS = [fraction(p, 3) for p in PRIMES]
START = [fraction(p, 2) for p in PRIMES[:8]]


def compress(words, rounds):
    turn = lambda x, n: (x >> n | x << 32 - n) & MASK
    w, s = list(words), list(START)
    for r in range(rounds):
        if r > 15:
            s0 = turn(w[r - 15], 7) ^ turn(w[r - 15], 18) ^ w[r - 15] >> 3
            s1 = turn(w[r - 2], 17) ^ turn(w[r - 2], 19) ^ w[r - 2] >> 10
            w.append((w[r - 16] + s0 + w[r - 7] + s1) & MASK)
        a, b, c, d, e, f, g, h = s
        t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & MASK & g) + ROUND_CONSTANTS[r] + w[r]
        t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c)
        s = [(t1 + t2) & MASK, a, b, c, (d + t1) & MASK, e, f, g]
    return [(x + y) & MASK for x, y in zip(s, START)]


def block(message):
    padded = message + b"\x80" + bytes(55 - len(message)) + struct.pack(">Q", 8 * len(message))
    words = struct.unpack(">16I", padded)
    assert struct.pack(">8I", *compress(words, 64)) == hashlib.sha256(message).digest()
    return words


def case(name, messages, rounds):
    blocks = [block(m) for m in messages]
    suite.test(
        name,
        [64],
        {
            "messages": values(w for b in blocks for w in b),
            "digests": expect(fill(0, 8 * len(blocks)), [w for b in blocks for w in compress(b, rounds)]),
            "count": len(blocks),
            "rounds": rounds,
        },
        local=[32],
    )


messages = [b"", b"abc", b"kernel assay", bytes(range(55))]
case("all rounds", messages, 64)
case("eight rounds", messages[1:3], 8)
case("no round", messages[:1], 0)
suite.write()
