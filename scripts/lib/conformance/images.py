"""Formats of images: OpenCL's numbers and names, which of them a device lists, and texels for them."""

import random
import struct
from typing import NamedTuple

ORDERS = {"R": (0x10B0, 1), "A": (0x10B1, 1), "RG": (0x10B2, 2), "RA": (0x10B3, 2), "RGB": (0x10B4, 3), "RGBA": (0x10B5, 4),
          "BGRA": (0x10B6, 4), "ARGB": (0x10B7, 4), "INTENSITY": (0x10B8, 1), "LUMINANCE": (0x10B9, 1)}
"""Channel orders that suites know: number and channels."""

TYPES = {
    "SNORM_INT8": (0x10D0, "char", "float"), "SNORM_INT16": (0x10D1, "short", "float"), "UNORM_INT8": (0x10D2, "uchar", "float"),
    "UNORM_INT16": (0x10D3, "ushort", "float"), "UNORM_SHORT_565": (0x10D4, "ushort", "float"),
    "UNORM_SHORT_555": (0x10D5, "ushort", "float"), "UNORM_INT_101010": (0x10D6, "uint", "float"),
    "SIGNED_INT8": (0x10D7, "char", "int"), "SIGNED_INT16": (0x10D8, "short", "int"), "SIGNED_INT32": (0x10D9, "int", "int"),
    "UNSIGNED_INT8": (0x10DA, "uchar", "uint"), "UNSIGNED_INT16": (0x10DB, "ushort", "uint"),
    "UNSIGNED_INT32": (0x10DC, "uint", "uint"), "HALF_FLOAT": (0x10DD, "half", "float"), "FLOAT": (0x10DE, "float", "float"),
}
"""Channel types: number, how a channel (or a packed texel) lies in memory, and what reads of the image give."""

PACKED = ("UNORM_SHORT_565", "UNORM_SHORT_555", "UNORM_INT_101010")

KINDS = {"image1d_t": 0x10F4, "image1d_array_t": 0x10F5, "image1d_buffer_t": 0x10F6, "image2d_t": 0x10F1,
         "image2d_array_t": 0x10F3, "image3d_t": 0x10F2}
FILTERS = {"NEAREST": 0x1140, "LINEAR": 0x1141}
ADDRESSING = {"NONE": 0x1130, "CLAMP_TO_EDGE": 0x1131, "CLAMP": 0x1132, "REPEAT": 0x1133, "MIRRORED_REPEAT": 0x1134}

CODES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "half": "e", "float": "f"}


class Format(NamedTuple):
    """A channel order and a channel type, by their names."""

    order: str
    type: str

    @property
    def numbers(self):
        return ORDERS[self.order][0], TYPES[self.type][0]

    @property
    def scalar(self):
        return TYPES[self.type][1]

    @property
    def reads(self):
        return TYPES[self.type][2]

    @property
    def channels(self):
        return 1 if self.type in PACKED else ORDERS[self.order][1]

    def __str__(self):
        return f"{self.order}/{self.type}"


def known(numbers):
    """The format of OpenCL's numbers; None if suites have no name for it, or if it is one that only some devices list."""
    order = next((name for name, (number, _) in ORDERS.items() if number == numbers[0]), None)
    channel = next((name for name, (number, *_) in TYPES.items() if number == numbers[1]), None)
    if not order or not channel or order in ("BGRA", "ARGB") and not channel.endswith("INT8"):
        return None
    return Format(order, channel)


def texels(form, count, salt):
    """Bytes of so many texels: for floats, numbers that every format of at least 16 bits holds."""
    source = random.Random(f"kassay texels {form} {salt}")
    code, values = CODES[form.scalar], count * form.channels
    if code in "ef":
        return struct.pack(f"<{values}{code}", *(source.randrange(-512, 513) / 64 for _ in range(values)))
    return source.randbytes(values * struct.calcsize(code))
