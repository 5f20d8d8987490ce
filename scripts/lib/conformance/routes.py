"""Runs a kernel as a driver compiles its source, and on the ways that go through kassay."""

import pathlib
import subprocess
import sys
import tempfile

from .cases import GIVEN, GROUP, ITEMS

OPTIONS = "-cl-std=CL3.0"
LIMIT = 300


class Broken(Exception):
    """A way gave no result; the text is the first line of what was said."""


def started(command, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT, **options)
    except subprocess.TimeoutExpired:
        raise Broken(f"no end after {LIMIT} s") from None


def first_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return " ".join((errors or lines or ["nothing was said"])[:2])[:300]


class Ways:
    """Everything that can be done with one kernel, in a folder of its own."""

    def __init__(self, kassay, kernel, extensions, folder):
        self.kassay, self.size, self.folder = kassay, kernel.size, pathlib.Path(folder)
        self.source = self.folder / "calls.cl"
        self.source.write_text(kernel.text(extensions))
        (self.folder / "in").write_bytes(GIVEN)
        (self.folder / "in.npy").write_bytes(npy(GIVEN))

    def native(self):
        """The driver's own compiler."""
        return self.driver(self.source, OPTIONS)

    def driver(self, code, options):
        out = self.folder / "out"
        script = pathlib.Path(__file__).with_name("opencl.py")
        ended = started([sys.executable, str(script), str(code), str(self.folder / "in"), str(out), options, "calls", str(self.size),
                         str(ITEMS), str(GROUP)])
        if ended.returncode != 0:
            raise Broken(first_line(ended.stderr) if ended.returncode > 0 else f"signal {-ended.returncode}")
        return out.read_bytes()

    def lowered(self):
        """kassay's SPIR-V of the source."""
        spirv = self.folder / "calls.spv"
        if not spirv.exists():
            ended = started([self.kassay, "lower", str(self.source), "--clang-arg", OPTIONS, "-o", str(spirv)])
            if ended.returncode != 0:
                raise Broken(first_line(ended.stderr))
        return spirv

    def valid(self):
        """What spirv-val says of it, empty if nothing."""
        ended = started(["spirv-val", str(self.lowered())])
        return "" if ended.returncode == 0 else first_line(ended.stderr + ended.stdout)

    def run(self, kernel, device):
        """What `kassay run` makes of a kernel, and leaves on a device."""
        name = f"{kernel.suffix[1:]}-{device}"
        suite = self.folder / f"{name}.toml"
        options = f'options = ["{OPTIONS}"]\n' if kernel.suffix == ".cl" else ""
        interface = "" if kernel.suffix == ".cl" else '[[arg]]\nname = "out"\ntype = "uchar*"\n[[arg]]\nname = "in"\ntype = "const uchar*"\n'
        suite.write_text(f'kernel = "{kernel.name}"\n{options}{interface}[[test]]\nname = "t"\nglobal = [{ITEMS}]\nlocal = [{GROUP}]\n'
                         f'[test.args]\nout = {{ fill = 0, len = {self.size} }}\nin = {{ npy = "in.npy" }}\n')
        outputs = self.folder / name
        ended = started([self.kassay, "run", str(suite), "--device", device, "--save-outputs", str(outputs)])
        kept = outputs / "t" / "out.npy"
        if ended.returncode not in (0, 1) or not kept.exists():
            said = ended.stderr if ended.stderr.strip() else ended.stdout
            raise Broken(first_line(said))
        return kept.read_bytes()[-self.size:]


WAYS = {
    "spirv": lambda ways, device: ways.run(ways.source, device),
    "read": lambda ways, device: ways.run(ways.lowered(), device),
    "simulator": lambda ways, device: ways.run(ways.source, "sim"),
    "read-simulator": lambda ways, device: ways.run(ways.lowered(), "sim"),
}


def npy(data):
    """Bytes as a file of numpy's format."""
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data


def in_folder(kassay, kernel, extensions):
    """Returns a folder that vanishes when it is closed, and the ways in it."""
    folder = tempfile.TemporaryDirectory(prefix="kassay-conformance-")
    return folder, Ways(kassay, kernel, extensions, folder.name)
