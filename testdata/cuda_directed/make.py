#!/usr/bin/env python3
"""Writes the suites: results as fractions, rounded in each direction. Numbers that are not finite are left to CUDA's rules."""

import math
import pathlib
import random
import struct
from fractions import Fraction

FORMATS = {"float": (24, -149, 127, "f", "I"), "double": (53, -1074, 1023, "d", "Q")}


def bits(value, name):
    code, unsigned = FORMATS[name][3:]
    return struct.unpack(f"<{unsigned}", struct.pack(f"<{code}", value))[0]


def rounded(exact, how, name, negative_zero=False):
    """A fraction as a number of the format."""
    precision, least, most = FORMATS[name][:3]
    if exact == 0:
        return -0.0 if negative_zero else 0.0
    sign, size = (-1 if exact < 0 else 1), abs(exact)
    exponent = math.floor(math.log2(size.numerator) - math.log2(size.denominator))
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** max(exponent - precision + 1, least)
    count = math.floor(size / unit)
    away = (how == "ru" and sign > 0) or (how == "rd" and sign < 0)
    if count * unit != size and away:
        count += 1
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** most
    if count * unit > largest:
        return sign * (math.inf if away else float(largest))
    return math.copysign(float(count * unit), sign)


def total(a, b, how, name, negative_zeros):
    """A sum of fractions; two zeros keep their sign if it is one, others are negative only where one rounds down."""
    negative = negative_zeros if isinstance(negative_zeros, bool) else how == "rd"
    return rounded(a + b, how, name, negative)


def is_negative(value):
    return math.copysign(1.0, value) < 0


def fma(x, y, z, how, name):
    product, negative = Fraction(x) * Fraction(y), is_negative(x) != is_negative(y)
    same = product == 0 and z == 0 and negative == is_negative(z)
    return total(product, Fraction(z), how, name, negative if same else None)


def root(x, how, name):
    if x == 0:
        return x
    # With so many bits that only a root without a rest is exact.
    exact = Fraction(x)
    scale = 4**1300
    whole = math.isqrt(exact.numerator * scale // exact.denominator)
    is_whole = Fraction(whole * whole, scale) == exact
    return rounded(Fraction(2 * whole + (0 if is_whole else 1), 2) / Fraction(2**1300), how, name)


def results(x, y, z, how, name):
    quotient_sign = is_negative(x) != is_negative(y)
    yield fma(x, 1.0, y, how, name)
    yield fma(x, 1.0, -y, how, name)
    yield rounded(Fraction(x) * Fraction(y), how, name, is_negative(x) != is_negative(y))
    yield rounded(Fraction(x) / Fraction(y), how, name, quotient_sign)
    yield rounded(1 / Fraction(x), how, name) if x else math.copysign(math.inf, x)
    yield root(x, how, name)
    yield fma(x, y, z, how, name)


def number(name, draw):
    least, most = FORMATS[name][1:3]
    kind = draw.randrange(4)
    if kind == 0:
        value = draw.choice([1.0, 0.5, 1.5, 3.0, 0.1, 7.25])
    elif kind == 1:
        value = draw.uniform(1, 2) * 2.0 ** draw.randrange(-6, 6)
    elif kind == 2:
        value = draw.choice([2.0**least, 3 * 2.0**least, 2.0 ** (least + 30), 2.0 ** (least // 2), 2.0 ** (most // 2 + 1), 1.75 * 2.0**most])
    else:
        value = draw.uniform(1, 2) * 2.0 ** draw.randrange(least + 3, most)
    return struct.unpack("<f", struct.pack("<f", value))[0] if name == "float" else value


def suite(name, threads):
    draw = random.Random(11)
    rows = [(1.0, -1.0, 0.0), (0.0, -3.0, 0.0), (3.0, 7.0, -21.0)]
    while len(rows) < threads:
        x, y, z = number(name, draw), draw.choice([-1, 1]) * number(name, draw), draw.choice([-1, 1]) * number(name, draw)
        if draw.randrange(4) == 0:
            product = rounded(Fraction(x) * Fraction(y), "rz", name)
            z = -product if math.isfinite(product) else z
        rows.append((x, y, z))
    found = [bits(value, name) for x, y, z in rows for how in ("rz", "ru", "rd") for value in results(x, y, z, how, name)]
    if name == "double":
        found = [value - 2**64 if value >= 2**63 else value for value in found]
    lines = ["# Written by make.py.", 'kernel = "cuda_directed.cu"', f'entry = "{name}s"', "", "[[test]]", 'name = "drawn numbers and limits"',
             "grid = [2]", f"block = [{threads // 2}]", "[test.args]"]
    for argument, column in zip("xyz", zip(*rows)):
        lines.append(f"{argument} = {{ values = [{', '.join(map(repr, column))}] }}")
    lines.append(f"out = {{ fill = 1, len = {len(found)}, expect = {{ values = [{', '.join(map(str, found))}] }} }}")
    pathlib.Path(__file__).with_name(f"suite_{name}s.toml").write_text("\n".join(lines) + "\n")


def bounds():
    draw = random.Random(3)
    single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
    rows, n = 8, 5
    a = [single(draw.uniform(-3, 3)) for _ in range(rows * n)]
    b = [single(draw.uniform(-3, 3)) for _ in range(n)]
    found = {"rd": [], "ru": []}
    for how, values in found.items():
        for row in range(rows):
            sum_ = 0.0
            for k in range(n):
                product = rounded(Fraction(a[row * n + k]) * Fraction(b[k]), how, "float")
                sum_ = total(Fraction(sum_), Fraction(product), how, "float", None)
            values.append(sum_)
    text = lambda values: "[" + ", ".join(map(repr, values)) + "]"
    lines = ["# Written by make.py.", 'kernel = "cuda_directed.cu"', 'entry = "bounds"', "", "[[test]]", 'name = "eight rows"', "grid = [2]", "block = [4]",
             "[test.args]", f"a = {{ values = {text(a)} }}", f"b = {{ values = {text(b)} }}",
             f"low = {{ fill = 0.0, len = {rows}, expect = {{ values = {text(found['rd'])} }} }}",
             f"high = {{ fill = 0.0, len = {rows}, expect = {{ values = {text(found['ru'])} }} }}", f"n = {n}"]
    pathlib.Path(__file__).with_name("suite_bounds.toml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    suite("float", 48)
    suite("double", 48)
    bounds()
