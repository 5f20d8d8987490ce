#!/usr/bin/env python3
"""Writes the suites of cuda_rounding: what is expected is rounded by fractions, without any floats' arithmetic."""

import math
import pathlib
import struct
from fractions import Fraction

HALF = (5, 10)
BFLOAT = (8, 7)
WAYS = ("rn", "rz", "rd", "ru")
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, -0.1, 1.0009765625, 1.00048828125, 1.00146484375, -1.00146484375, 2049.0, 2051.0, -2051.0, 65504.0, 65519.0,
          65520.0, -65535.0, 1e9, -1e9, 3e-5, 6e-8, -6e-8, 2.9802322387695312e-8, 1e-9, 3.3895313892515355e38, 3.4e38, 2.5, -3.5, math.inf, -math.inf,
          257.0]
INTEGERS = [0, 1, -1, 2049, -2051, 4097, 65504, 65519, 65520, -70000, 257, 259, -259, 16777217, 2**31 + 2**23, 2**40 + 1, -(2**40) - 2**32, 2**53 + 1,
            2**62 + 2**54, 2**62 + 2**54 + 1, -(2**62) - 2**54 - 1, 2**63 - 1, -(2**63), 2**62 - 1]


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def rounded(x, form, way):
    """The bits of a number of 16 bits: so many of the exponent, so many of the fraction."""
    exponent_bits, fraction_bits = form
    bias = 2 ** (exponent_bits - 1) - 1
    infinite = (2**exponent_bits - 1) << fraction_bits
    if isinstance(x, float) and math.isnan(x):
        return 0x7FFF
    is_negative = x < 0 or isinstance(x, float) and math.copysign(1, x) < 0
    sign = 0x8000 if is_negative else 0
    if isinstance(x, float) and math.isinf(x):
        return sign | infinite
    size = abs(Fraction(x))
    if size == 0:
        return sign
    exponent = max(math.floor(math.log2(size)) + 1, 1 - bias)
    while Fraction(2) ** exponent > size and exponent > 1 - bias:
        exponent -= 1
    unit = Fraction(2) ** (exponent - fraction_bits)
    whole, rest = divmod(size, unit)
    up = {"rn": rest * 2 > unit or rest * 2 == unit and whole % 2 == 1, "rz": False, "rd": is_negative and rest > 0, "ru": not is_negative and rest > 0}[way]
    whole += up
    # A whole that has grown by a bit carries into the exponent.
    bits = whole if exponent == 1 - bias and whole < 2**fraction_bits else ((exponent + bias - 1) << fraction_bits) + whole
    if bits >= infinite:
        greatest = infinite - 1
        bits = greatest if way == "rz" or way == "rd" and not is_negative or way == "ru" and is_negative else infinite
    return sign | int(bits)


def value(bits, form):
    exponent_bits, fraction_bits = form
    sign = -1 if bits & 0x8000 else 1
    exponent, fraction = bits >> fraction_bits & (2**exponent_bits - 1), bits & (2**fraction_bits - 1)
    if exponent == 2**exponent_bits - 1:
        return math.nan if fraction else sign * math.inf
    bias = 2 ** (exponent_bits - 1) - 1
    if exponent == 0:
        return math.copysign(float(Fraction(fraction) * Fraction(2) ** (1 - bias - fraction_bits)), sign)
    return sign * float(Fraction(2**fraction_bits + fraction) * Fraction(2) ** (exponent - bias - fraction_bits))


def whole(x, way, least, most):
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return most if x > 0 else least
    x = Fraction(x)
    to = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}[way](x)
    return max(least, min(most, to))


def toml(x):
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(toml, x)) + "]"
    if isinstance(x, float):
        return "nan" if math.isnan(x) else repr(x) if math.isfinite(x) else "inf" if x > 0 else "-inf"
    return str(x)


def written(fill, values):
    width = f"[{', '.join(fill for _ in values[0])}]" if isinstance(values[0], (list, tuple)) else fill
    return f"{{ fill = {width}, len = {len(values)}, expect = {{ values = {toml(values)} }} }}"


def all_ways(x, form):
    return [rounded(x, form, way) for way in WAYS]


def compared(x, y, form):
    a, b = (value(rounded(n, form, "rn"), form) for n in (x, y))
    unordered = math.isnan(a) or math.isnan(b)
    tests = [a == b, a < b or a > b, a < b, a >= b, a == b or unordered, a != b, a < b or unordered, a >= b or unordered]
    return sum(int(test) << n for n, test in enumerate(tests))


def limited(x, y):
    half = lambda n: value(rounded(n, HALF, "rn"), HALF)
    a, b = half(x), half(y)
    exact = lambda *n: any(not math.isfinite(m) for m in n)
    total = a + b if exact(a, b) else half(float(Fraction(a) + Fraction(b)))
    product = a * b + a if exact(a, b) else half(float(Fraction(a) * Fraction(b) + Fraction(a)))
    saturated = 0.0 if math.isnan(total) else max(0.0, min(1.0, total))
    rectified = product if math.isnan(product) else max(0.0, product)
    most = b if math.isnan(a) else a if math.isnan(b) else max(a, b)
    least = math.nan if math.isnan(a) or math.isnan(b) else min(a, b)
    return [saturated, rectified, most, least]


def suite(entry, name, block, args, grid=1):
    lines = [f'kernel = "cuda_rounding.cu"\nentry = "{entry}"\n\n[[test]]\nname = "{name}"\ngrid = [{grid}]\nblock = [{block}]\n[test.args]']
    lines += [f"{arg} = {text}" for arg, text in args.items()]
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(__file__).resolve().parent
    floats = [single(x) for x in FLOATS]
    brain = [value(rounded(x, BFLOAT, "rn"), BFLOAT) for x in floats]
    halves = [value(rounded(x, HALF, "rn"), HALF) for x in floats]
    (folder / "suite.toml").write_text(suite("from_floats", "edges", len(floats), {
        "x": f"{{ values = {toml(floats)} }}",
        "halves": written("1", [all_ways(x, HALF) for x in floats]),
        "bfloats": written("1", [all_ways(x, BFLOAT) for x in floats]),
        "back": written("1", [[whole(x, way, -(2**31), 2**31 - 1) for way in WAYS] for x in brain]),
        "narrow": written("1", [[whole(x, "rn", -(2**15), 2**15 - 1), (whole(x, "rz", 0, 2**16 - 1) + 2**15) % 2**16 - 2**15] for x in halves]),
    }))
    (folder / "from_integers.toml").write_text(suite("from_integers", "edges", len(INTEGERS), {
        "x": f"{{ values = {toml(INTEGERS)} }}",
        "halves": written("1", [all_ways(x, HALF) for x in INTEGERS]),
        "bfloats": written("1", [all_ways(x, BFLOAT) for x in INTEGERS]),
    }))
    pairs = [(1.0, 1.0), (0.5, 0.25), (-2.0, 3.0), (3.0, -2.0), (math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan), (math.inf, 2.0), (-math.inf, 2.0),
             (60000.0, 60000.0), (-0.25, 0.5)]
    (folder / "compare.toml").write_text(suite("compare", "pairs with no number among them", len(pairs), {
        "x": f"{{ values = {toml([a for a, _ in pairs])} }}",
        "y": f"{{ values = {toml([b for _, b in pairs])} }}",
        "same": written("9", [[compared(a, b, HALF), compared(a, b, BFLOAT)] for a, b in pairs]),
        "limited": written("-5.0", [limited(a, b) for a, b in pairs]),
    }))
    bits = lambda *both: [rounded(n, BFLOAT, "rn") for n in both]
    # Whole numbers, whose sums do not depend on the order.
    terms = [float(n) for n in range(1, 9)]
    (folder / "sum.toml").write_text(suite("sum", "two blocks of four", 4, {
        "x": f"{{ values = {toml(terms)} }}",
        "pairs": f"{{ values = [[1.0, 0.5]], expect = {{ values = [[{1 + sum(terms)}, {0.5 - sum(terms)}]] }} }}",
        "others": f"{{ values = [{bits(4.0, 0.0)}], expect = {{ values = [{bits(4.0 + sum(terms), 2 * sum(terms))}] }} }}",
    }, grid=2))


if __name__ == "__main__":
    main()
