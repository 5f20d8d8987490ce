"""Front ends that compile OpenCL C to SPIR-V: clang 22 by itself, clang 15 with llvm-spirv, and spirv-opt after them.

For the scripts that compare what kassay makes of a kernel's source and of its SPIR-V.
"""
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA_HOME = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share")


def version(program):
    """Returns what `program --version` prints, or nothing if it cannot run."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60).stdout
    except OSError:
        return ""


def translator(is_old):
    """Finds a llvm-spirv: the one of LLVM 15 (Debian's), or a newer one (that of the wheel dpcpp-llvm-spirv)."""
    found = sorted(map(str, DATA_HOME.glob("kassay/llvm-spirv/*/bin/llvm-spirv")))
    found += [path for name in ["llvm-spirv-15", "/usr/bin/llvm-spirv-15", "llvm-spirv"] if (path := shutil.which(name))]
    return next((path for path in found if ("LLVM version 15." in version(path)) == is_old), None)


PROGRAMS = {
    "clang-22": shutil.which("clang-22"),
    "clang-15": shutil.which("clang-15"),
    "llvm-spirv 15": translator(True),
    "llvm-spirv (newer)": translator(False),
    "spirv-opt": shutil.which("spirv-opt"),
}


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel file of a suite with the options that the suite gives clang."""
    path: pathlib.Path
    options: tuple

    @property
    def name(self):
        return self.path.stem


class Failed(Exception):
    """A step of a front end failed; the text says which and why."""


def step(program, *arguments):
    words = [PROGRAMS[program], *map(str, arguments)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        raise Failed(f"{program}: no end after 120 s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or done.stderr.splitlines()
        raise Failed(f"{program}: {lines[0] if lines else done.returncode}")


def direct(*flags):
    """clang 22 by itself."""
    def compile_to(kernel, output):
        step("clang-22", "-x", "cl", *standard(kernel), "-target", "spirv64v1.2-unknown-unknown", *flags, *kernel.options,
             "-c", kernel.path, "-o", output)
    return ["clang-22"], compile_to


def translated(translator_name, clang_flags=(), translator_flags=()):
    """clang 15 and a translator."""
    def compile_to(kernel, output):
        bitcode = output.with_suffix(".bc")
        opaque = [] if translator_name == "llvm-spirv 15" else ["-Xclang", "-opaque-pointers"]
        step("clang-15", "-x", "cl", *standard(kernel), "-target", "spir64", "-Xclang", "-finclude-default-header",
             *opaque, "-O0", *clang_flags, *kernel.options, "-emit-llvm", "-c", kernel.path, "-o", bitcode)
        step(translator_name, *translator_flags, bitcode, "-o", output)
    return ["clang-15", translator_name], compile_to


def optimised(name, *flags):
    """A front end whose output goes through spirv-opt."""
    needs, compile_before = COMPILERS[name]

    def compile_to(kernel, output):
        before = output.parent.parent / name / output.name
        make(compile_before, kernel, before)
        # Debian's validator knows neither LLVM's debug types nor some right uses of OpenCL's instructions.
        step("spirv-opt", "--skip-validation", *flags, before, "-o", output)
    return [*needs, "spirv-opt"], compile_to


def make(compile_to, kernel, output):
    """Compiles a kernel with a front end of FRONT_ENDS, unless that has been done; Failed if it cannot."""
    if not output.exists():
        output.parent.mkdir(parents=True, exist_ok=True)
        try:
            compile_to(kernel, output)
        except Failed:
            output.unlink(missing_ok=True)
            raise


def standard(kernel):
    return [] if any(option.startswith("-cl-std=") for option in kernel.options) else ["-cl-std=CL1.2"]


NAMES = "-fno-discard-value-names"
NONSEMANTIC = "--spirv-debug-info-version=nonsemantic-shader-100"
COMPILERS = {
    "clang22-O0": direct("-O0"),
    "clang22-O0-names": direct("-O0", NAMES),
    "clang22-O2": direct("-O2"),
    "clang15-old": translated("llvm-spirv 15"),
    "clang15-old-g": translated("llvm-spirv 15", ["-g"]),
    "clang15-new": translated("llvm-spirv (newer)"),
    "clang15-new-g": translated("llvm-spirv (newer)", ["-g"]),
    "clang15-new-nonsemantic": translated("llvm-spirv (newer)", ["-g"], [NONSEMANTIC]),
}
FRONT_ENDS = dict(COMPILERS)
FRONT_ENDS.update({f"{name}+opt": optimised(name, "-O") for name in COMPILERS})
FRONT_ENDS.update({f"{name}+strip": optimised(name, "--strip-debug") for name in COMPILERS})


def kernels(filters):
    """Returns the kernels of testdata's suites with the suites' options, each pair once."""
    found = {}
    for suite in sorted((ROOT / "testdata").glob("*/*.toml")):
        table = tomllib.loads(suite.read_text())
        if isinstance(table.get("kernel"), str) and table["kernel"].endswith(".cl"):
            kernel = Kernel((suite.parent / table["kernel"]).resolve(), tuple(table.get("options", ())))
            if not filters or any(text in kernel.name for text in filters):
                found[kernel] = None
    return list(found)


def available(names):
    """Returns those of the front ends whose programs this machine has; notes the others."""
    there = []
    for name in names:
        missing = [program for program in FRONT_ENDS[name][0] if not PROGRAMS[program]]
        if missing:
            print(f"left out: {name} (no {', '.join(missing)})", file=sys.stderr)
        else:
            there.append(name)
    return there
