#!/usr/bin/env python3
"""Writes suite.toml: runs the programs on lists."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

suite = Suite(
    __file__,
    "clcpp_opcodes.clcpp",
    "clcpp_opcodes",
    """Programs that use all operations, empty the stack, and fill it.""",
)

ADD, SUB, MIN, DROP, DUP = range(5)


def run(code, first):
    stack = [first, [2 * v for v in first]]
    for op in code:
        if not stack:
            break
        if op <= MIN and len(stack) > 1:
            right, left = stack.pop(), stack.pop()
            combine = [lambda a, b: a + b, lambda a, b: a - b, min][op]
            stack.append([combine(a, b) for a, b in zip(left, right)])
        elif op == DROP:
            stack.pop()
        elif op == DUP and len(stack) < 4:
            stack.append(list(stack[-1]))
    return stack[-1] if stack else [-1, 0]


def case(name, code, pairs):
    result = [run(code, pair) for pair in pairs]
    args = {"code": values(code), "length": len(code), "in": values(pairs), "out": expect(fill([7, 7], len(pairs)), result)}
    suite.test(name, [len(pairs)], args)


PAIRS = [[3, -4], [10, 0], [-1, 5]]
case("arithmetic", [ADD, DUP, ADD, DUP, DUP, SUB, MIN], PAIRS)
case("underflow", [SUB, ADD, DROP, DUP], PAIRS)
case("overflow", [DUP, DUP, DUP, DUP, ADD], PAIRS)

suite.write()
