"""The list of host programs in testdata/hosts, and running programs. Used by build-hosts, run-hosts and measure-hosts."""

import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOSTS = ROOT / "testdata" / "hosts"
SKIPPED = 77  # the exit code of a program whose device lacks what it is for


def stop(message, help_text):
    """Ends the script as kassay ends where the environment lacks something."""
    print(f"error: {message}\n  help: {help_text}", file=sys.stderr)
    sys.exit(3)


@dataclasses.dataclass
class Host:
    """An entry of hosts.toml. Paths are relative to testdata/hosts; `run` is relative to the program's folder."""

    name: str
    source: str
    run: list[str] = dataclasses.field(default_factory=list)
    first: list[str] | None = None
    files: list[str] = dataclasses.field(default_factory=list)
    spirv: list[str] = dataclasses.field(default_factory=list)
    exit: int = 0
    signal: str | None = None
    lines: int | None = None
    others: bool = False
    kernels: list[dict] = dataclasses.field(default_factory=list)
    findings: list[dict] = dataclasses.field(default_factory=list)
    needs: list[str] = dataclasses.field(default_factory=list)
    shows: list[str] = dataclasses.field(default_factory=list)
    left_out: list[str] = dataclasses.field(default_factory=list)
    open: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self):
        if not self.run:
            script = self.source.endswith(".py")
            self.run = ["python", pathlib.PurePath(self.source).name] if script else [f"./{self.program}"]

    @property
    def program(self):
        """The name of the executable and of its folder; several entries may share them."""
        return pathlib.PurePath(self.source).stem

    @property
    def expected_end(self):
        """The exit code, or minus the signal's number, as subprocess tells it."""
        return -signal.Signals[self.signal] if self.signal else self.exit

    def launches(self, key="launches"):
        """Launches by kernel name, over all programs that have such a kernel."""
        sums = {}
        for kernel in self.kernels:
            sums[kernel["name"]] = sums.get(kernel["name"], 0) + kernel.get(key, kernel["launches"])
        return sums


def load(names=()):
    """Reads the list; only the entries with these names, if any are given."""
    with open(HOSTS / "hosts.toml", "rb") as file:
        hosts = [Host(**entry) for entry in tomllib.load(file)["host"]]
    unknown = set(names) - {host.name for host in hosts}
    if unknown:
        print(f"error: no host program is named {', '.join(sorted(unknown))}\n"
              "  help: the names are in testdata/hosts/hosts.toml", file=sys.stderr)
        sys.exit(2)
    return [host for host in hosts if not names or host.name in names]


def data_home():
    """The folder below which scripts/setup installs drivers and tools."""
    data = os.environ.get("XDG_DATA_HOME", "")
    return pathlib.Path(data) if os.path.isabs(data) else pathlib.Path.home() / ".local" / "share"


def environment():
    """The environment with OpenCL drivers: those that are set, those of the system, or the one that scripts/setup installed."""
    env = dict(os.environ)
    if any(env.get(name) for name in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES")):
        return env
    installed = data_home() / "kassay" / "opencl" / "vendors"
    if installed.is_dir():
        env["OCL_ICD_VENDORS"] = str(installed)
    elif not pathlib.Path("/etc/OpenCL/vendors").is_dir():
        stop("there is no OpenCL driver", "run scripts/setup, or set OCL_ICD_VENDORS to the folder of a driver's .icd file")
    return env


@dataclasses.dataclass
class Run:
    """How a command ended."""

    end: int | None  # exit code, minus a signal's number, or None: stopped after the time limit
    seconds: float
    stdout: str
    stderr: str

    def ended_with(self, expected):
        """Whether it ended so; a command around a program tells a signal as 128 plus its number."""
        return self.end == expected or (expected < 0 and self.end == 128 - expected)


def run(command, folder, env, limit):
    """Runs a command in a folder, at most `limit` seconds. What it leaves running is ended with it."""
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    try:
        stdout, stderr = process.communicate(timeout=limit)
        end = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        end = None
    seconds = time.monotonic() - started
    return Run(end, seconds, stdout.decode(errors="replace"), stderr.decode(errors="replace"))


def end_text(end):
    """An end in words."""
    if end is None:
        return "time limit"
    return signal.Signals(-end).name if end < 0 else f"exit {end}"
