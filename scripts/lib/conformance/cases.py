"""Makes kernels that call builtins on edge values and on random ones.

A kernel has two buffers: `out`, bytes where every call has a part, and `in`, where every type has a table of values. It uses no
builtin itself but get_global_id, get_local_id and the one that is called.
"""

import collections
import math
import random
import re
import struct

from .arguments import IN, OUT
from .declarations import ATOMICS, SCALARS, spelt

ITEMS, GROUP = 256, 64
ROWS = 256
"""Values of each type."""

FORMATS = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q", "ulong": "Q",
           "half": "e", "float": "f", "double": "d"}
SAME = {"size_t": "ulong", "uintptr_t": "ulong", "ptrdiff_t": "long", "intptr_t": "long", **ATOMICS}
UNSIGNED = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}

# Enumerations of OpenCL C and what is passed for them.
CONSTANTS = {
    "memory_order": ["memory_order_relaxed", "memory_order_acquire", "memory_order_release", "memory_order_acq_rel",
                     "memory_order_seq_cst"],
    "memory_scope": ["memory_scope_work_group", "memory_scope_device"],
    "cl_mem_fence_flags": ["CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"],
}


def plain(scalar):
    return SAME.get(scalar, scalar)


def table(scalar):
    """The values of a type: edges, and others by chance, the same ones each time."""
    source = random.Random(f"kassay {scalar}")
    size = SCALARS[scalar]
    if scalar not in ("half", "float", "double"):
        bits, signed = 8 * size, not scalar.startswith("u")
        edges = {0, 1, 2, 3, 7, 8, bits - 1, bits, bits + 1, (1 << bits) - 1, (1 << bits) - 2, 1 << (bits - 1), (1 << (bits - 1)) - 1,
                 (1 << (bits - 1)) + 1, 0x55 * ((1 << bits) // 255), 0xAA * ((1 << bits) // 255) & ((1 << bits) - 1)}
        edges |= {1 << n for n in range(0, bits, 3)} | {((1 << n) - 1) & ((1 << bits) - 1) for n in (7, 8, 15, 16, 31, 32, 63) if n <= bits}
        values = sorted(value & ((1 << bits) - 1) for value in edges)
        values += [source.getrandbits(bits) for _ in range(ROWS - len(values))]
        source.shuffle(values)
        return b"".join(value.to_bytes(size, "little") for value in values[:ROWS])
    code = FORMATS[scalar]
    largest = {"half": 65504.0, "float": 3.4028234663852886e38, "double": 1.7976931348623157e308}[scalar]
    least = {"half": 2.0**-24, "float": 2.0**-149, "double": 5e-324}[scalar]
    normal = {"half": 2.0**-14, "float": 2.0**-126, "double": 2.0**-1022}[scalar]
    edges = [0.0, 1.0, 0.5, 1.5, 2.5, 0.25, 2.0, 3.0, 10.0, 127.0, 127.5, 128.0, 255.0, 255.5, 256.0, 32767.0, 65504.0, math.pi, math.e,
             math.pi / 2, math.inf, math.nan, largest, least, normal, normal / 2, 0.1, 1.0 / 3.0, 100.25]
    if scalar != "half":
        edges += [2.0**31, 2.0**31 - 128, 2.0**32, 2.0**63, 2.0**64, 2.0**24 + 2, 65535.0, 65536.0, 1e10, 1e-10, 1e30]
    values = [sign * value for value in edges for sign in (1.0, -1.0)]
    while len(values) < ROWS:
        scale = source.choice([1.0, 1.0, 10.0, 1000.0, 60000.0] if scalar == "half" else [1.0, 1.0, 10.0, 1000.0, 1e6, 1e12])
        values.append(source.uniform(-scale, scale))
    source.shuffle(values)
    return b"".join(struct.pack("<" + code, value) for value in values[:ROWS])


ORDER = list(FORMATS)


def given():
    """Returns the bytes of `in`, and where the table of each type begins in it."""
    places, data = {}, b""
    for scalar in ORDER:
        places[scalar] = len(data)
        data += table(scalar)
    return data, places


GIVEN, PLACES = given()

Part = collections.namedtuple("Part", "builtin what offset scalar count")
"""A part of what a way gives: of which builtin, what, where it begins, and its values: `count` of a scalar type (None: a text)."""

Launch = collections.namedtuple("Launch", "name arguments")


class Unable(Exception):
    """The builtin needs something that these kernels do not have."""


class Kernel:
    """A kernel that calls builtins, one after the other."""

    options, items, group, printed, reference = ["-cl-std=CL3.0"], [ITEMS], [GROUP], False, "native"
    launches = [Launch("", [OUT, IN])]

    def __init__(self):
        self.body, self.parts, self.size, self.locals = [], [], 0, []

    def part(self, builtin, what, scalar, count):
        size = SCALARS[scalar]
        self.size = -(-self.size // 128) * 128
        part = Part(builtin, what, self.size, scalar, ITEMS * count)
        self.parts.append(part)
        self.size += ITEMS * count * size
        return part

    def keep(self, builtin, what, expression, ty):
        """Stores a value."""
        scalar = "int" if ty.scalar == "bool" else plain(ty.scalar)
        part = self.part(builtin, what, scalar, ty.lanes)
        to = f"((__global {scalar}*)(out + {part.offset}))"
        if ty.lanes == 1:
            return [f"{to}[g] = {expression};"]
        return [f"{to}[g * {ty.lanes} + {lane:#x}] = {expression}.s{lane:x};" for lane in range(ty.lanes)]

    def value(self, ty, position, salt=0):
        """An expression for a parameter's value."""
        scalar = plain(ty.scalar)
        if scalar == "bool":
            return f"((g >> {position}) & 1)"
        lanes = [f"T({scalar}, {PLACES[scalar]}, {(11 * position + 29 * lane + 7 * salt) % ROWS}, {2 * position + 1})"
                 for lane in range(ty.lanes)]
        return lanes[0] if ty.lanes == 1 else f"(({spelt(ty._replace(scalar=scalar))})({', '.join(lanes)}))"

    def call(self, builtin, constants=0):
        """Adds a call. `constants` counts through the values of enumerations."""
        name, arguments, before, after = builtin.name, [], [], []
        if builtin.result is None or builtin.result.lanes == 0 or builtin.result.space:
            raise Unable("its result")
        number = len(self.body)
        for position, ty in enumerate(builtin.parameters):
            if ty is None:
                raise Unable("a parameter")
            if ty.lanes == 0:
                if ty.scalar not in CONSTANTS or ty.space:
                    raise Unable(ty.scalar)
                choices = CONSTANTS[ty.scalar]
                arguments.append(choices[constants % len(choices)])
            elif ty.space:
                variable = f"v{number}_{position}"
                arguments.append(self.pointer(builtin, ty, position, variable, before, after))
            else:
                arguments.append(self.argument(builtin, ty, position))
        called = f"{name}({', '.join(arguments)})"
        text = ["{", *before]
        if builtin.result.scalar == "void":
            text.append(f"{called};")
        else:
            result = builtin.result
            kind = "int" if result.scalar == "bool" else spelt(result)
            text.append(f"{kind} r = {called};")
            text += self.keep(builtin, "result", "r", result)
        self.body.append("\n        ".join([*text, *after]) + "\n    }")

    def argument(self, builtin, ty, position):
        """A value; for indices, one that stays in bounds, and where OpenCL leaves a result open, another one."""
        name, scalar = builtin.name, plain(ty.scalar)
        if name.startswith(("vload", "vstore")) and scalar == "ulong" and ty.lanes == 1:
            return "((size_t)(g & 1))"
        if name.startswith("bitfield_") and position > 0 and scalar == "uint" and position >= len(builtin.parameters) - 2:
            width = 8 * SCALARS[plain(builtin.parameters[0].scalar)]
            return f"((uint)(g % {width // 2 + 1}))" if position == len(builtin.parameters) - 2 else f"((uint)((g / 3) % {width // 2 + 1}))"
        if name in ("shuffle", "shuffle2") and position == len(builtin.parameters) - 1:
            return self.value(ty, position)
        if name.startswith(("work_group_broadcast", "sub_group_broadcast", "sub_group_non_uniform_broadcast")) and position > 0:
            return "3" if position == 1 else "0"
        if name.startswith("sub_group_") and name.endswith(("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "rotate")) and position == 1:
            return "1"
        if name == "clamp" and position == 2 and scalar not in ("half", "float", "double"):
            # With crossed bounds it is undefined.
            return f"max({self.value(builtin.parameters[1], 1)}, {self.value(ty, position)})"
        if name in ("mad24", "mul24") and position < 2:
            # Beyond 24 bits it is implementation-defined.
            return f"(({self.value(ty, position)} << 8) >> 8)"
        if name.startswith("sub_group_clustered") and position == 1:
            return "4"
        value = self.value(ty, position)
        target = re.match(r"convert_(u?)(char|short|int|long)\d*(_rt.)?$", name)
        if target and scalar in ("half", "float", "double"):
            return self.within(value, ty, target[1] == "u", SCALARS[target[2]])
        return value

    def within(self, value, ty, is_unsigned, size):
        """A float that an integer type has, whatever is rounded: OpenCL leaves conversions of others open."""
        least, most = (0.0, 2.0**(8 * size) * 0.999) if is_unsigned else (-2.0**(8 * size - 1) * 0.999, 2.0**(8 * size - 1) * 0.999)
        if plain(ty.scalar) == "half":
            least, most = max(least, -65504.0), min(most, 65504.0)
        lanes = re.findall(r"T\([^()]*\)", value)
        kept = [f"({lane} >= {least!r} && {lane} < {most!r} ? {lane} : ({plain(ty.scalar)})2.5)" for lane in lanes]
        return kept[0] if ty.lanes == 1 else f"(({spelt(ty)})({', '.join(kept)}))"

    def pointer(self, builtin, ty, position, variable, before, after):
        """The address of a variable in the parameter's address space, which holds a value and is kept afterwards."""
        name, space = builtin.name, ty.space
        scalar = plain(ty.scalar)
        declared = ty.scalar if ty.scalar in ATOMICS else spelt(ty._replace(scalar=scalar))
        is_half = scalar == "half" and name.startswith(("vload", "vstore"))
        if name.startswith(("vload", "vstore")):
            lanes = int((re.search(r"\d+", name) or ["1"])[0])
            count = 2 * (4 if lanes == 3 and "a_half" in name else lanes)
        else:
            count = 1
        what = f"*{position}"
        values = ty._replace(scalar=scalar, space=None)
        begin = [self.value(values, position, element) for element in range(count)]
        if is_half:
            # Values of type half need not exist: bits do.
            begin = [f"T(ushort, {PLACES['half']}, {(29 * element) % ROWS}, 1)" for element in range(count)]
        cells = "ushort" if is_half else spelt(values)
        if space == "__constant":
            # Into the table itself, whose index the work-item's number moves.
            return f"((__constant {declared}*)(constants + {PLACES[scalar]} + {SCALARS[scalar]} * 16 * (g & 3)))"
        if space == "__global":
            part = self.part(builtin, what, "ushort" if is_half else scalar, count * ty.lanes)
            cell = f"((__global {cells}*)(out + {part.offset}) + g * {count})"
            if ty.lanes == 3:
                raise Unable("three lanes in global memory")
            before += [f"{cell}[{element}] = {value};" for element, value in enumerate(begin)]
            return f"(volatile __global {declared}*)({cell})" if declared in ATOMICS else f"(__global {declared}*)({cell})"
        # What is written as one type and read as another lies in a union: compilers may count on that (6.5 of C99).
        of = f"{variable}.bits" if is_half else variable
        shape = "union {{ ushort bits[{0}]; half values[{0}]; }} {1};" if is_half else cells + " {1}[{0}];"
        if space == "__local":
            self.locals.append("__local " + shape.format(GROUP * count, variable))
            at = f"{of}[l * {count} + %d]"
        else:
            before.append(shape.format(count, variable))
            at = f"{of}[%d]"
        before += [f"{at % element} = {value};" for element, value in enumerate(begin)]
        kept = values._replace(scalar="ushort") if is_half else values
        for element in range(count):
            after += self.keep(builtin, f"{what}[{element}]", at % element, kept)
        variable = f"{variable}.values" if is_half else variable
        if space == "__local":
            return f"((__local {declared}*)({variable} + l * {count}))"
        return f"((__private {declared}*){variable})"

    def text(self, extensions):
        """The source of the kernel."""
        enabled = [f"#pragma OPENCL EXTENSION {name} : enable" for name in ("cl_khr_fp16", "cl_khr_fp64") if name in extensions]
        head = f"#define T(type, at, first, step) (((__global const type*)(in + at))[(g * step + first) & {ROWS - 1}])"
        lines = [*enabled, head]
        if any("constants + " in call for call in self.body):
            numbers = ", ".join(str(byte) for byte in GIVEN)
            lines.append(f"__constant uchar constants[{len(GIVEN)}] __attribute__((aligned(128))) = {{ {numbers} }};")
        lines += ["__kernel void calls(__global uchar* out, __global const uchar* in) {",
                  *("    " + local for local in self.locals),
                  "    size_t g = get_global_id(0), l = get_local_id(0);", *("    " + call for call in self.body), "}", ""]
        return "\n".join(lines)
