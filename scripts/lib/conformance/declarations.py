"""Every builtin and overload that clang's header of OpenCL's builtins declares."""

import collections
import re
import subprocess

SCALARS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "half": 2, "float": 4,
           "double": 8, "size_t": 8, "ptrdiff_t": 8, "intptr_t": 8, "uintptr_t": 8}
ATOMICS = {"atomic_int": "int", "atomic_uint": "uint", "atomic_long": "long", "atomic_ulong": "ulong", "atomic_float": "float",
           "atomic_double": "double", "atomic_half": "half", "atomic_flag": "int", "atomic_size_t": "ulong",
           "atomic_intptr_t": "long", "atomic_uintptr_t": "ulong", "atomic_ptrdiff_t": "long"}
SPACES = ("__global", "__local", "__private", "__constant", "__generic")

Builtin = collections.namedtuple("Builtin", "result name parameters")
"""A parameter or result: the type's words without qualifiers, the number of lanes, and the pointer's address space or None."""
Type = collections.namedtuple("Type", "scalar lanes space const", defaults=(None, False))


def spelt(ty):
    return ty.scalar + (str(ty.lanes) if ty.lanes > 1 else "")


def read_type(text):
    """Reads a type as the header writes it; None for types that are not arithmetic (images, events, enumerations)."""
    words = text.replace("*", " * ").split()
    pointer = "*" in words
    space = next((word for word in words if word in SPACES), "__private" if pointer else None)
    const = "const" in words
    words = [word for word in words if word not in ("*", "const", "volatile", *SPACES)]
    if len(words) == 2 and re.fullmatch(r"[a-z_]\w*", words[1]):
        words.pop()  # A parameter's name.
    if len(words) != 1:
        return None
    match = re.fullmatch(r"(%s)(2|3|4|8|16)?" % "|".join([*SCALARS, *ATOMICS, "bool", "void"]), words[0])
    if not match:
        return Type(words[0], 0, space if pointer else None, const)
    return Type(match[1], int(match[2] or 1), space if pointer else None, const)


def declared(clang="clang-22", standard="CL3.0"):
    """Returns the builtins by name, in the header's order."""
    command = [clang, "-E", "-P", "-x", "cl", f"-cl-std={standard}", "-target", "spirv64-unknown-unknown", "-include", "opencl-c.h",
               "-Xclang", "-cl-ext=+all", "-"]
    text = subprocess.run(command, input="", capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\(\((const|pure|convergent|deprecated[^)]*|unavailable)\)\)", "", text)
    found = collections.OrderedDict()
    for match in re.finditer(r"([\w ]+?)\s*__attribute__\(\(overloadable\)\)\s*(\w+)\s*\(([^()]*)\)\s*;", text):
        result, name, parameters = (part.strip() for part in match.groups())
        parameters = [] if parameters in ("", "void") else [read_type(part.strip()) for part in parameters.split(",")]
        found.setdefault(name, []).append(Builtin(read_type(result), name, parameters))
    return found
