"""What the tests of workflow/ share: Python environments, processes that can be ended with all that they started, comparison of results."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
KASSAY = TARGET / "debug" / "kassay"

# What two runs with the same verdicts may differ in (docs/merge.md), and what only sets of suites say.
PASSING = ("elapsed_s", "device", "timing", "shard", "suite")


class CannotRun(Exception):
    """Something is missing here: exit code 3."""

    def __init__(self, what, help):
        super().__init__(what)
        self.help = help


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def main(body):
    """Runs a script's body, and returns its exit code."""
    try:
        return body()
    except CannotRun as lacking:
        print(f"cannot run here: {lacking}\n  help: {lacking.help}", file=sys.stderr)
        return 3
    except AssertionError as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1


def environment(requirements, folder=None):
    """Returns the folder of programs of a Python environment with exactly these packages; makes it if need be."""
    if sys.version_info < (3, 11):
        raise CannotRun("Python is older than 3.11", "install a newer one")
    folder = folder or TARGET / "python" / requirements.stem
    marker, wanted = folder / "installed", requirements.read_text()
    if not marker.exists() or marker.read_text() != wanted:
        say(f"installing the packages of {requirements.relative_to(ROOT)} to {folder}")
        shutil.rmtree(folder, ignore_errors=True)
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
        if made.returncode:
            raise CannotRun(f"python3 -m venv fails: {made.stdout.strip()}{made.stderr.strip()}", "Debian: apt-get install python3-venv")
        install = [folder / "bin" / "pip", "--quiet", "--disable-pip-version-check", "--no-input", "install", "--prefer-binary", "-r", requirements]
        if subprocess.run(install, stdin=subprocess.DEVNULL).returncode:
            raise CannotRun("pip cannot install the packages", "look at its messages above; PyPI has to be reached")
        marker.write_text(wanted)
    return folder / "bin"


def program(path):
    path = pathlib.Path(path).resolve()
    if not path.exists():
        raise CannotRun(f"{path} is not there", "cargo build, or name the program with --kassay")
    return path


def suites(folder, names):
    """Copies suites of testdata."""
    for name in names:
        shutil.copytree(ROOT / "testdata" / name, folder / name)


def run(*command, code=0, **options):
    """Runs a command that has to end with this code."""
    ended = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    shown = " ".join(str(part) for part in command)
    assert ended.returncode == code, f"{shown} ended with {ended.returncode}, not {code}:\n{ended.stdout}{ended.stderr}"
    return ended


def members(session):
    """The processes of a session that have not ended."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def kill_session(session):
    """Kills all processes of a session."""
    while alive := members(session):
        for process in alive:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)


def wait_for(what, condition, seconds):
    """Waits until a condition gives something, and returns that."""
    end = time.monotonic() + seconds
    while True:
        if given := condition():
            return given
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(0.05)


def lasting(kernel):
    return {key: value for key, value in kernel.items() if key not in PASSING}


def differences(a, b, at=""):
    if isinstance(a, dict) and isinstance(b, dict):
        keys = sorted(a.keys() | b.keys())
        return [line for key in keys for line in differences(a.get(key), b.get(key), f"{at}/{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [line for n, (x, y) in enumerate(zip(a, b)) for line in differences(x, y, f"{at}/{n}")]
    return [] if a == b else [f"{at}: {str(a)[:200]} and {str(b)[:200]}"]


def check_same(whole, merged):
    """Checks that a merged set says the same as that of one run, kernel by kernel; returns the number of mutants."""
    whole, merged = (json.loads(path.read_text()) for path in (whole, merged))
    by_source = [{kernel["source"]: lasting(kernel) for kernel in one["kernels"]} for one in (whole, merged)]
    found = differences(*by_source) + differences(whole["total"], merged["total"], "total")
    assert not found, "the merged result is another one than that of one run:\n" + "\n".join(found[:20])
    assert not merged["failed"], f"kernels failed: {merged['failed']}"
    return merged["total"]["total"]
