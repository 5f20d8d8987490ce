#!/usr/bin/env python3
"""Writes suite.toml and its .npy files: particles as bytes, laid out as OpenCL C lays out the struct.

particle: float4 at 0, float at 16, int at 20, 8 bytes of padding: 32 bytes.
"""

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, f32, fill

suite = Suite(
    __file__,
    "struct_args.cl",
    "struct_args",
    """Structs by value and in buffers (the latter as .npy of bytes, one row a struct). Complete on purpose, but the second loop
cannot run zero times.""",
)


def case(name, stem, count, room, weights, drift, steps, kinds, axis, mirror):
    before, after, energy = b"", b"", []
    for i in range(room):
        position = [float((i * k) % 11 - 5) for k in (3, 5, 7, 2)]
        mass, kind = float(1 << i % 4), i % 7 - 1
        before += struct.pack("<4ffi8x", *position, mass, kind)
        if i < count:
            weight = weights[kind] if 0 <= kind <= 3 else 1.0
            position[:2] = [p + steps * weight * d for p, d in zip(position, drift)]
            if kind in kinds:
                position[:3] = [p + a for p, a in zip(position, axis)]
            if mirror:
                position = [0.0 - p if p else -0.0 for p in position]
            mass *= 2
            energy.append(mass * sum(p * p for p in position))
            assert f32(energy[-1]) == energy[-1]
        else:
            energy.append(-1.0)
        after += struct.pack("<4ffi8x", *position, mass, kind)
    start = suite.npy(f"{stem}_in.npy", "u1", [room, 32], before)
    end = suite.npy(f"{stem}_out.npy", "u1", [room, 32], after)
    suite.test(
        name,
        [64],
        {
            "c": {
                "fields": {
                    "count": count,
                    "weights": weights,
                    "moves": {"fields": {"drift": drift, "steps": steps, "kinds": kinds}},
                    "axis": axis,
                    "mirror": int(mirror),
                }
            },
            "particles": {"npy": start, "expect": {"npy": end}},
            "energy": expect(fill(-1.0, room), energy),
        },
        local=[16],
    )


case("three steps", "steps", 30, 32, [1.0, 2.0, 0.5, -1.0], [0.5, -0.25], 3, [1, 3, 5], [1.0, 2.0, 3.0], False)
case("mirrored", "mirrored", 64, 64, [0.0, 1.0, 1.0, 4.0], [2.0, 1.0], 1, [0, 0, 4], [-1.0, 0.0, 0.5], True)
case("at rest", "rest", 16, 20, [1.0, 1.0, 1.0, 1.0], [9.0, 9.0], 0, [200, 201, 202], [5.0, 5.0, 5.0], False)
suite.write()
