#!/usr/bin/env python3
"""Writes suite.toml of record_sums."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
from suitelib import Suite, expect, values

suite = Suite(__file__, "record_sums.cl", "sums", "Tests that show the faults of the variants in `faults`.")

def case(name, items, n, before):
    rows = [[(k * k + 3 * j + 1) % 17 for j in range(4)] for k in range(n)]
    start = [{"fields": {"values": row, "sum": before}} for row in rows]
    end = [{"fields": {"values": row, "sum": sum(row)}} for row in rows]
    suite.test(name, [items], {"records": expect(values(start), end), "n": n}, local=[4])


case("two groups", 8, 8, 0)
case("last group not full", 8, 5, 0)
case("sums from before", 4, 3, 50)

suite.write()
