#!/usr/bin/env python3
"""Writes a suite for each of the four kernels."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suitelib import Suite, expect, fill, values

FILE = "image_grading.cl"
PIXELS = 40


def noise(count, seed):
    return [(seed * 37 + i * i * 11 + i * 53) % 256 for i in range(count)]


def toward_zero(a, b):
    return int(a / b)


def clamped(x):
    return min(max(x, 0), 255)


def to_grey():
    suite = Suite(__file__, FILE, "to_grey", "Grey. Complete on purpose.")

    def case(name, rgb, n):
        grey = [(77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2] + 128) >> 8 for i in range(n)]
        args = {"rgb": values(rgb), "grey": expect(fill(9, PIXELS), grey + [9] * (PIXELS - n)), "n": n}
        suite.test(name, [48], args, local=[16])

    case("any colours", noise(3 * PIXELS, 1), PIXELS)
    case("fewer pixels than work-items", noise(3 * PIXELS, 2), 33)
    case("white", [255] * (3 * PIXELS), PIXELS)
    suite.write("suite_to_grey.toml")


def grade():
    suite = Suite(__file__, FILE, "grade", "Grading. Incomplete on purpose: no lift is negative.")

    def case(name, n, gain, lift):
        data = noise(PIXELS, gain)
        out = [clamped(toward_zero(x * gain + 32, 64) + lift) for x in data[:n]]
        args = {"in": values(data), "out": expect(fill(9, PIXELS), out + [9] * (PIXELS - n)), "n": n, "gain": gain, "lift": lift}
        suite.test(name, [48], args, local=[16])

    case("brighter", PIXELS, 80, 10)
    case("darker", 35, 30, 0)
    case("much brighter", PIXELS, 200, 40)
    suite.write("suite_grade.toml")


def blur_rows():
    suite = Suite(__file__, FILE, "blur_rows", "Blurring. Complete on purpose.")

    def case(name, width, height):
        data = noise(width * height, width)
        out = []
        for y in range(height):
            row = data[y * width : (y + 1) * width]
            for x in range(width):
                out.append((row[max(x - 1, 0)] + 2 * row[x] + row[min(x + 1, width - 1)] + 2) // 4)
        args = {"in": values(data), "out": expect(fill(9, width * height), out), "width": width, "height": height}
        suite.test(name, [16, 8], args, local=[8, 4])

    case("ten by four", 10, 4)
    case("one column", 1, 8)
    case("as many as work-items", 16, 8)
    suite.write("suite_blur_rows.toml")


def blend():
    suite = Suite(__file__, FILE, "blend", "Blending. Incomplete on purpose: no opacity is above 100.")

    def case(name, n, opacity):
        below, above, mask = noise(PIXELS, 3), noise(PIXELS, 4), noise(PIXELS, opacity)
        mask[::5] = [0] * len(mask[::5])
        out = []
        for i in range(n):
            share = clamped(mask[i] * opacity // 100)
            out.append(below[i] if share == 0 else (below[i] * (255 - share) + above[i] * share + 127) // 255)
        args = {"below": values(below), "above": values(above), "mask": values(mask)}
        args |= {"out": expect(fill(9, PIXELS), out + [9] * (PIXELS - n)), "n": n, "opacity": opacity}
        suite.test(name, [48], args, local=[16])

    case("half", PIXELS, 50)
    case("opaque", 37, 100)
    suite.write("suite_blend.toml")


to_grey()
grade()
blur_rows()
blend()
