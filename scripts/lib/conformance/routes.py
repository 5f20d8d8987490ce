"""Runs a kernel as a driver compiles its source, and on the ways that go through kassay."""

import json
import pathlib
import subprocess
import sys
import tempfile

from . import arguments
from .cases import GIVEN

LIMIT = 120


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
        self.kassay, self.kernel, self.folder = kassay, kernel, pathlib.Path(folder)
        self.source = self.folder / "calls.cl"
        self.source.write_text(kernel.text(extensions))
        (self.folder / "in").write_bytes(GIVEN)
        # Untyped bytes fit whatever element types a module records.
        (self.folder / "in.npy").write_bytes(arguments.npy(GIVEN, "untyped", [len(GIVEN)]))
        (self.folder / "out.npy").write_bytes(arguments.npy(bytes(kernel.size), "untyped", [kernel.size]))

    def native(self):
        """The driver's own compiler."""
        job, result = self.folder / "job.json", self.folder / "result"
        job.write_text(json.dumps({
            "code": str(self.source), "given": str(self.folder / "in"), "result": str(result),
            "options": " ".join(self.kernel.options),
            "size": self.kernel.size, "items": self.kernel.items, "group": self.kernel.group,
            "launches": [launch.arguments for launch in self.kernel.launches]}))
        ended = started([sys.executable, "-m", "conformance.launch", str(job)], cwd=pathlib.Path(__file__).resolve().parents[1])
        if ended.returncode != 0:
            raise Broken(first_line(ended.stderr) if ended.returncode > 0 else f"signal {-ended.returncode}")
        return result.read_bytes() + (ended.stdout.encode() if self.kernel.printed else b"")

    def reference(self):
        """What the other ways are compared with."""
        return self.native() if self.kernel.reference == "native" else self.run(self.source, "sim")

    def lowered(self):
        """kassay's SPIR-V of the source."""
        spirv = self.folder / "calls.spv"
        if not spirv.exists():
            options = [word for option in self.kernel.options for word in ("--clang-arg", option)]
            ended = started([self.kassay, "lower", str(self.source), "--entry", "calls", *options, "-o", str(spirv)])
            if ended.returncode != 0:
                raise Broken(first_line(ended.stderr))
        return spirv

    def valid(self):
        """What spirv-val says of it, empty if nothing."""
        ended = started(["spirv-val", str(self.lowered())])
        return "" if ended.returncode == 0 else first_line(ended.stderr + ended.stdout)

    def suite(self, code):
        """The text of a suite with a test for each launch."""
        kernel = self.kernel
        lines = [f'kernel = "{code.name}"', 'entry = "calls"']
        if code.suffix == ".cl":
            lines.append(f"options = {json.dumps(kernel.options)}")
        for number, launch in enumerate(kernel.launches):
            lines += ["[[test]]", f'name = "t{number}"', f"global = {kernel.items}", f"local = {kernel.group}", "[test.args]"]
            lines += [f"{argument['name']} = {arguments.given(argument, self.folder)}" for argument in launch.arguments]
        return "\n".join(lines) + "\n"

    def run(self, code, device):
        """What `kassay run` makes of a kernel, and leaves on a device."""
        name = f"{code.suffix[1:]}-{device}"
        suite, outputs, result = self.folder / f"{name}.toml", self.folder / name, self.folder / f"{name}.json"
        suite.write_text(self.suite(code))
        ended = started([self.kassay, "run", str(suite), "--device", device, "--save-outputs", str(outputs), "-o", str(result)])
        if ended.returncode not in (0, 1) or not result.exists():
            raise Broken(first_line(ended.stderr if ended.stderr.strip() else ended.stdout))
        tests = json.loads(result.read_text())["tests"]
        for launch, test in zip(self.kernel.launches, tests):
            if test["status"] not in ("passed", "unchecked"):
                raise Broken(f"{launch.name} {test['status']}: {test.get('reason')}".strip()[:300])
        left = []
        for number, launch in enumerate(self.kernel.launches):
            for argument in launch.arguments:
                if argument["kind"] == "out" or arguments.written(argument):
                    size = self.kernel.size if argument["kind"] == "out" else len(argument["data"]) // 2
                    left.append((outputs / f"t{number}" / f"{argument['name']}.npy").read_bytes()[-size:])
        printed = (tests[0].get("printf") or "").encode() if self.kernel.printed else b""
        return b"".join(left) + printed


WAYS = {
    "spirv": lambda ways, device: ways.run(ways.source, device),
    "read": lambda ways, device: ways.run(ways.lowered(), device),
    "simulator": lambda ways, device: ways.run(ways.source, "sim"),
    "read-simulator": lambda ways, device: ways.run(ways.lowered(), "sim"),
}


def in_folder(kassay, kernel, extensions):
    """Returns a folder that vanishes when it is closed, and the ways in it."""
    folder = tempfile.TemporaryDirectory(prefix="kassay-conformance-")
    return folder, Ways(kassay, kernel, extensions, folder.name)
