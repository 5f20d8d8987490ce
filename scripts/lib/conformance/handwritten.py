"""The kernels of testdata/conformance: features of the language, and builtins that take images, events or all work-items.

Each file has a kernel `calls`, whose first parameters are `out` and `in` as those of the kernels that `cases` makes. Its first
line says how it is launched:

    // conformance: out=8192 global=256 local=64 values=uint options=-cl-std=CL2.0

- `out` is a size in bytes, `global` and `local` have up to three dimensions (`16x16`).
- `values` (default `int`) is what `out` holds; `ulps` is how far floats may be off on the simulator.
- `options` (default `-cl-std=CL1.2`) are separated by commas.
- `printed=1` compares what is printed, too.
- `reference=simulator` compares with the simulator, where the driver's compiler lacks what the kernel tests.
- Further parameters are given by their names: an image by its size (`picture=8x4`), a sampler by filter, addressing mode and,
  perhaps, `normalized` (`smp=LINEAR:CLAMP_TO_EDGE:normalized`), local memory by its bytes (`tile=local:256`), a number by itself.
- A kernel with images runs once with every format that the device lists for all of them, and whose reads give what `formats`
  says (`float`, `int` or `uint`).
"""

import math
import pathlib
import re

from . import arguments
from .cases import Launch, Part
from .declarations import SCALARS

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "testdata" / "conformance"


class File:
    """A kernel that was written by hand, with everything that a launch takes."""

    def __init__(self, path, device):
        self.name, self.source = path.stem, path.read_text()
        head = re.match(r"// conformance: (.*)", self.source)
        if not head:
            raise ValueError(f"{path}: the first line has to say how it is launched: // conformance: out=…")
        self.said = dict(word.split("=", 1) for word in head[1].split())
        self.size = int(self.said["out"])
        self.items, self.group = ([int(n) for n in self.said[key].split("x")] for key in ("global", "local"))
        self.options = self.said.get("options", "-cl-std=CL1.2").split(",")
        self.reference = self.said.get("reference", "native")
        self.printed, self.ulps = "printed" in self.said, int(self.said.get("ulps", 0))
        self.launches = [Launch(str(form or ""), self.arguments(form)) for form in self.formats(device)]
        self.parts = self.places()

    def __str__(self):
        return f"testdata/conformance/{self.name}.cl"

    def text(self, _):
        return self.source

    def parameters(self):
        """Words of the parameters after `out` and `in`."""
        listed = re.search(r"\bcalls\(([^)]*)\)", self.source)[1]
        return [re.sub(r"\*", "* ", parameter).split() for parameter in listed.split(",")][2:]

    def formats(self, device):
        """Formats of the images, or None once if there are no images."""
        image_types = [(words[-2], words[0]) for words in self.parameters() if words[-2].startswith("image")]
        if not image_types:
            return [None]
        sets = [device.image_formats(ty, access.strip("_")) for ty, access in image_types]
        return [form for form in sets[0] if form.reads == self.said["formats"] and all(form in other for other in sets)]

    def arguments(self, form):
        made = [arguments.OUT, arguments.IN]
        for words in self.parameters():
            name, ty = words[-1], words[-2]
            said = self.said[name].split(":")
            if ty.startswith("image"):
                shape = [int(n) for n in said[0].split("x")]
                made.append(arguments.image(name, ty, words[0].strip("_"), shape, form, name))
            elif ty == "sampler_t":
                made.append({"kind": "sampler", "name": name, "filter": said[0], "addressing": said[1],
                             "normalized": len(said) > 2})
            elif said[0] == "local":
                made.append({"kind": "local", "name": name, "type": ty, "bytes": int(said[1])})
            else:
                number = float(said[0]) if "." in said[0] else int(said[0])
                made.append({"kind": "value", "name": name, "type": ty, "value": number})
        return made

    def places(self):
        """Where each launch's results begin in what a way gives: `out`, written images, and in the end what was printed."""
        parts, at = [], 0
        for launch in self.launches:
            scalar = self.said.get("values", "int")
            parts.append(Part(self, f"out {launch.name}".strip(), at, scalar, self.size // SCALARS[scalar]))
            at += self.size
            for argument in filter(arguments.written, launch.arguments):
                form = arguments.form(argument)
                count = math.prod(argument["shape"]) * form.channels
                parts.append(Part(self, f"{argument['name']} {launch.name}", at, form.scalar, count))
                at += count * SCALARS[form.scalar]
        if self.printed:
            parts.append(Part(self, "printed", at, None, 0))
        return parts


def files(device, only):
    """All kernels whose name matches."""
    return [File(path, device) for path in sorted(FOLDER.glob("*.cl")) if re.search(only, path.stem)]
