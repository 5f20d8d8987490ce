#!/usr/bin/env python3
"""Writes suite_images.toml and its picture."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, sampler

suite = Suite(__file__, "images.cl", "images", """Incomplete on purpose: all rows are the same, so y does not matter.""")
row = [3, 1, 4, 15]
texels = [v for _ in range(4) for x in row for v in (x, 0, 0, 0)]
picture = suite.image("image2d", suite.npy("rows.npy", "u1", (4, 4, 4), texels), "RGBA", "UNSIGNED_INT8")
args = {"from": picture, "to": expect(fill(0, 16), row * 4), "smp": sampler("CLAMP_TO_EDGE")}
suite.test("rows", [4, 4], args, local=[4, 2])
suite.write("suite_images.toml")
