"""Compares what two ways left, value by value: to the bit, or within what OpenCL allows."""

import itertools
import math
import struct

from .cases import FORMATS
from .declarations import SCALARS

# Units in the last place that OpenCL C 3.0 (7.4) allows of single precision; what is not here is correctly rounded or exact. Two
# implementations may lie on both sides of the right value.
ULPS = {
    "acos": 4, "acosh": 4, "acospi": 5, "asin": 4, "asinh": 4, "asinpi": 5, "atan": 5, "atan2": 6, "atanh": 5, "atanpi": 5,
    "atan2pi": 6, "cbrt": 2, "cos": 4, "cosh": 4, "cospi": 4, "erfc": 16, "erf": 16, "exp": 4, "exp2": 4, "exp10": 4, "expm1": 4,
    "hypot": 4, "log": 4, "log2": 4, "log10": 4, "log1p": 4, "pow": 16, "pown": 16, "powr": 16, "rootn": 16, "rsqrt": 2, "sin": 4,
    "sincos": 4, "sinh": 4, "sinpi": 4, "sqrt": 3, "tan": 5, "tanh": 5, "tanpi": 6, "tgamma": 16, "lgamma": 1 << 40, "lgamma_r": 1 << 40,
    "mad": 1 << 40, "dot": 8, "cross": 8, "distance": 8, "length": 8, "normalize": 8, "mix": 8, "smoothstep": 8, "degrees": 2,
    "radians": 2, "step": 0, "fast_distance": 1 << 14, "fast_length": 1 << 14, "fast_normalize": 1 << 14, "half": 1 << 14,
    "native": 1 << 50,
}


def allowed(builtin):
    """Twice the units that a builtin may be off; a kernel that was written by hand says so itself."""
    if hasattr(builtin, "ulps"):
        return builtin.ulps
    name = builtin.name
    for prefix in ("native_", "half_"):
        if name.startswith(prefix):
            return 2 * ULPS[prefix[:-1]]
    return 2 * ULPS.get(name, 0)


def ordered(bits, size):
    """Numbers the floats of a format by their order, so that neighbours differ by one."""
    sign = 1 << (8 * size - 1)
    return sign - bits if bits & sign else bits


def differences(part, x, y, ulps):
    """Returns how many values differ, and the first that does: its index, and both."""
    if part.scalar is None:
        texts = [bytes_[part.offset:].decode(errors="replace").splitlines() for bytes_ in (x, y)]
        lines = [(number, *pair) for number, pair in enumerate(itertools.zip_longest(*texts)) if pair[0] != pair[1]]
        return len(lines), lines[0] if lines else None
    size, count = SCALARS[part.scalar], part.count
    x, y = (bytes_[part.offset:part.offset + count * size] for bytes_ in (x, y))
    if x == y:
        return 0, None
    code = FORMATS[part.scalar]
    wrong, first = 0, None
    for index in range(count):
        a, b = (bytes_[index * size:(index + 1) * size] for bytes_ in (x, y))
        if a == b:
            continue
        (one,), (other,) = struct.unpack("<" + code, a), struct.unpack("<" + code, b)
        if code in "efd":
            if one != one and other != other:
                continue
            least = {"e": 2.0**-14, "f": 2.0**-126, "d": 2.0**-1022}[code]
            if ulps and abs(one) <= least and abs(other) <= least:
                continue  # Subnormal results may be zero.
            if ulps and math.isfinite(one) and math.isfinite(other):
                ranks = [ordered(int.from_bytes(bits, "little"), size) for bits in (a, b)]
                if abs(ranks[0] - ranks[1]) <= ulps:
                    continue
        wrong += 1
        first = first or (index, one, other)
    return wrong, first
