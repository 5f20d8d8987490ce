"""Runs kassay and its benchmarks on a device, for scripts/test-gpu: from a pack, or as they were built here."""

import json
import lzma
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
TESTDATA = REPOSITORY / "testdata"


class TimeOver(Exception):
    """The time of a part is over."""


def unpack(pack, program, folder):
    """Unpacks the libraries and programs of a pack; returns kassay and the environment in which it runs."""
    with lzma.open(pack) as stream, tarfile.open(fileobj=stream) as archive:
        archive.extractall(folder, filter="data")
    kassay = folder / "bin/kassay"
    if program:
        kassay.parent.mkdir(exist_ok=True)
        with lzma.open(program) as packed, open(kassay, "wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
    for file in (folder / "bin").iterdir():
        file.chmod(0o755)
    environment = dict(os.environ)
    # C++'s own headers come before those of C that they wrap.
    headers = sorted((folder / "include").glob("c++/*")) + sorted((folder / "include").glob("*-linux-gnu/c++/*"))
    headers += [folder / "include", *sorted((folder / "include").glob("*-linux-gnu"))]
    environment.update(
        CPLUS_INCLUDE_PATH=":".join(map(str, headers)),
        LD_LIBRARY_PATH=f"{folder}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}",
        PATH=f"{folder}/llvm/bin:{os.environ.get('PATH', '')}",
        KASSAY_LIBCLC=f"{folder}/nvptx64--.bc",
        OCL_ICD_VENDORS=f"{folder}/vendors",
        HOME=str(folder),
    )
    return kassay, environment


def shown(suite):
    """A suite's name: its folder below testdata, or else its folder."""
    folder = pathlib.Path(suite).resolve().parent
    return str(folder.relative_to(TESTDATA)) if folder.is_relative_to(TESTDATA) else folder.name


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "").replace(str(REPOSITORY) + "/", "")[:160]


class Machine:
    """A machine with a device. `pack` is the folder of what was packed; None where there is no pack."""

    def __init__(self, kassay, environment, scratch, device, pack=None, benches=None):
        self.kassay, self.environment, self.device = pathlib.Path(kassay).resolve(), environment, device
        self.scratch, self.pack, self.benches = scratch, pack, benches
        self.results = scratch
        self.deadline = None

    def begin(self, part, limit):
        """Begins a part, which has this many seconds; what it runs writes into a folder of its own, which is returned."""
        self.deadline = time.monotonic() + limit
        self.results = self.scratch / part
        self.results.mkdir(parents=True, exist_ok=True)
        self.environment["XDG_CACHE_HOME"] = str(self.scratch / "cache")
        return self.results

    def left(self):
        return self.deadline - time.monotonic()

    def run(self, command, limit, **environment):
        """Runs a program; returns its exit code (None if its time was over), its output, its complaints and the seconds."""
        left = self.left()
        if left <= 0:
            raise TimeOver()
        is_part_over = left < limit
        limit = min(limit, left)
        began = time.monotonic()
        process = subprocess.Popen(
            list(map(str, command)), env={**self.environment, **environment}, cwd=REPOSITORY, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )
        try:
            output, complaint = process.communicate(timeout=limit)
            code = process.returncode
        except subprocess.TimeoutExpired:
            # Its workers end with it, in groups of their own.
            os.killpg(process.pid, signal.SIGKILL)
            output, complaint = process.communicate()
            if is_part_over:
                raise TimeOver() from None
            code, complaint = None, f"not done after {limit:.0f} s\n{complaint}"
        return code, output, complaint.strip(), time.monotonic() - began

    def ask(self, question, suite, device, *flags, limit=90, tag="", **environment):
        """Runs `kassay QUESTION SUITE`; returns its exit code, the result (None without), what it complained of, the seconds."""
        name = "-".join([question, *shown(suite).split("/"), device.replace(":", "-").replace(" ", "-")])
        result = self.results / f"{name}{tag}.json"
        result.unlink(missing_ok=True)
        command = [self.kassay, question, suite, "--device", device, "--quiet", "-o", result, *flags]
        code, _, complaint, taken = self.run(command, limit, **environment)
        try:
            told = json.loads(result.read_text())
        except (OSError, ValueError):
            told = None
        return {"code": code, "result": told, "complaint": complaint, "seconds": taken}

    def bench(self, name):
        """The program of a benchmark; None if it was not packed or built."""
        if self.pack:
            found = [self.pack / "bin" / name]
        else:
            found = sorted((self.benches or REPOSITORY / "target/release/deps").glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)
            found = [path for path in found if path.suffix == "" and os.access(path, os.X_OK)]
        return found[-1] if found and found[-1].exists() else None

    def run_bench(self, name, flags, limit):
        """Runs a benchmark, less than the part's time; its output is kept. Returns what `run` returns."""
        command = [self.bench(name), "--device", self.device, "--root", REPOSITORY, "--kassay", self.kassay, *flags]
        done = self.run(command, min(limit, self.left() - 1))
        (self.results / f"{name}.txt").write_text(done[1] + "\n" + done[2])
        return done

    def facts(self):
        """What there is: device, driver, processors."""
        facts = {"device": self.device}
        listed = subprocess.run(
            [self.kassay, "devices", "--format", "json"], env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        try:
            found = json.loads(listed.stdout)["devices"]
            facts["devices"] = "; ".join(f"{one['id']} {one['name']} (driver {one['driver']}, takes {one['code']})" for one in found)
        except (ValueError, KeyError):
            facts["devices"] = first_line(listed.stderr) or "none"
        if shutil.which("nvidia-smi"):
            asked = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm", "--format=csv,noheader"]
            facts["driver"] = subprocess.run(asked, capture_output=True, text=True).stdout.strip().replace("\n", "; ")
        try:
            lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
            facts["processor"] = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
        except OSError:
            pass
        facts["cores"] = len(os.sched_getaffinity(0))
        return facts


def workers_left(kassay):
    """The worker processes of this kassay whose parent has ended."""
    left = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) if words else 0
            if len(words) > 2 and words[1] == b"worker" and parent == 1 and pathlib.Path(os.readlink(folder / "exe")).parent == kassay.parent:
                left.append(int(folder.name))
        except (OSError, ValueError, IndexError):
            continue
    return left
