"""Arguments of kernels, as a driver's launches and suites take them. They are plain tables, so that a job can be a JSON file."""

import math

from . import images

# As numpy writes types.
CODES = {"half": "f2", "float": "f4", "uchar": "u1", "char": "i1", "ushort": "u2", "short": "i2", "uint": "u4", "int": "i4",
         "untyped": "V1"}

OUT, IN = {"kind": "out", "name": "out"}, {"kind": "in", "name": "in"}


def image(name, ty, access, shape, form, salt):
    """An image; `shape` is its width, height and depth or layers, as far as its kind has them."""
    return {"kind": "image", "name": name, "type": ty, "access": access, "shape": shape, "order": form.order,
            "channel": form.type, "data": images.texels(form, math.prod(shape), salt).hex()}


def written(argument):
    return argument["kind"] == "image" and argument["access"] != "read_only"


def form(argument):
    return images.Format(argument["order"], argument["channel"])


def given(argument, folder):
    """The value that a suite gives to the argument; images become files in the folder, `out` and `in` are there."""
    kind = argument["kind"]
    if kind in ("out", "in"):
        return f'{{ npy = "{kind}.npy" }}'
    if kind == "local":
        return f"{{ local = {argument['bytes']} }}"
    if kind == "value":
        return str(argument["value"])
    if kind == "sampler":
        properties = f'addressing = "{argument["addressing"]}", filter = "{argument["filter"]}"'
        return f"{{ sampler = {{ {properties}, normalized = {str(argument['normalized']).lower()} }} }}"
    own = form(argument)
    file = folder / f"{argument['name']}-{own.order}-{own.type}.npy"
    # Channels are the last axis, width the one before it.
    shape = [*reversed(argument["shape"]), *([own.channels] if own.channels > 1 else [])]
    file.write_bytes(npy(bytes.fromhex(argument["data"]), own.scalar, shape))
    key = argument["type"].removesuffix("_t")
    return f'{{ {key} = "{file.name}", channel_order = "{own.order}", channel_type = "{own.type}" }}'


def npy(data, scalar, shape):
    """Bytes as a file of numpy's format."""
    code = CODES[scalar]
    order = "|" if code.endswith("1") else "<"
    sizes = "".join(f"{size}, " for size in shape)
    head = f"{{'descr': '{order}{code}', 'fortran_order': False, 'shape': ({sizes}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data
