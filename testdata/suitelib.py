"""Writes suite files for the make.py of a test-data folder: values in, TOML out.

It formats what the caller has computed and knows nothing of any kernel. Needs Python 3.8 and nothing else.
"""

import math
import struct
import sys
from pathlib import Path

_NPY = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f2": "e", "f4": "f", "f8": "d"}


def f32(x):
    """`x` rounded to single precision."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def f16(x):
    """`x` rounded to half precision."""
    return struct.unpack("<e", struct.pack("<e", x))[0]


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return "nan" if math.isnan(value) else repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    raise TypeError(type(value))


def values(data):
    return {"values": list(data)}


def fill(value, length):
    return {"fill": value, "len": length}


def arange(length, start=0, step=1):
    return {"arange": {"len": length, "start": start, "step": step}}


def random(length, seed, low, high):
    return {"random": {"len": length, "seed": seed, "min": low, "max": high}}


def local(size):
    return {"local": size}


def expect(initial, data, **tolerance):
    """An argument's initial contents (of any of the forms above) and what the kernel leaves there."""
    return {**initial, "expect": {"values": list(data), **tolerance}}


def sampler(addressing, filter="NEAREST", normalized=False):
    return {"sampler": {"addressing": addressing, "filter": filter, "normalized": normalized}}


class Suite:
    def __init__(self, make, kernel, entry, comment, options=(), tolerance=None):
        self.folder = Path(make).resolve().parent
        self.lines = [f"# {line}".rstrip() for line in comment.strip().split("\n")]
        self.lines += ["# Written by make.py, which computes what is expected.", "", f"kernel = {toml(kernel)}", f"entry = {toml(entry)}"]
        if options:
            self.lines.append(f"options = {toml(list(options))}")
        if tolerance:
            self.lines.append(f"tolerance = {toml(tolerance)}")

    def test(self, name, size, args, local=None, offset=None, comment=None):
        self.lines.append("")
        if comment:
            self.lines += [f"# {line}" for line in comment.split("\n")]
        self.lines += ["[[test]]", f"name = {toml(name)}", f"global = {toml(size)}"]
        if local:
            self.lines.append(f"local = {toml(local)}")
        if offset:
            self.lines.append(f"offset = {toml(offset)}")
        self.lines.append("[test.args]")
        self.lines += [f"{key} = {toml(value)}" for key, value in args.items()]

    def npy(self, name, dtype, shape, data):
        """Writes a little-endian .npy (format 1.0, C order) beside the suite; gives its name."""
        data = list(data)
        assert len(data) == math.prod(shape), (name, len(data), shape)
        descr = ("|" if dtype[1] == "1" else "<") + dtype
        dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}), }}"
        head += " " * (-(10 + len(head) + 1) % 64) + "\n"
        body = struct.pack(f"<{len(data)}{_NPY[dtype]}", *data)
        (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)
        return name

    def image(self, kind, file, order, channel, expected=None):
        spec = {kind: file, "channel_order": order, "channel_type": channel}
        if expected:
            spec["expect"] = {"npy": expected}
        return spec

    def write(self, name="suite.toml"):
        (self.folder / name).write_text("\n".join(self.lines) + "\n")
        if "-v" in sys.argv:
            print(self.folder / name)
