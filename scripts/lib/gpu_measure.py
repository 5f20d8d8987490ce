"""The parts of scripts/test-gpu that measure: overhead of coverage, recovery from faults, races, whole runs of mutation."""

import itertools
import json
import shutil
import statistics

from gpu_compare import amounts
from gpu_machine import REPOSITORY, TESTDATA, first_line, shown, workers_left

# Faults in a row, each followed by the healthy test, whose times are averaged.
PAIRS = 5
# The time limit of launches in the part on faults, in seconds.
FAULT_LIMIT = 1


def overhead(machine, report, args, recorded):
    """benches/overhead on the large launches."""
    if machine.bench("overhead") is None:
        return report.row("overhead", "all", "not there", "the pack has no benchmark `overhead`")
    told = machine.results / "overhead.json"
    flags = ["--json", told, *(["--rounds", args.rounds] if args.rounds else []), *args.kernels]
    code, output, complaint, taken = machine.run_bench("overhead", flags, machine.left())
    kernels = json.loads(told.read_text())["kernels"] if told.exists() else []
    for row in kernels:
        times = f"{row['original_ms']:.4f} ms, with probes {row['instrumented_ms']:.4f} ms"
        report.row("kernel", row["kernel"], "measured", f"{row['ratio']:.3f}: {times}", ratio=row["ratio"], ratio_of_minima=row["ratio_of_minima"])
    ratios = [row["ratio"] for row in kernels]
    if ratios:
        detail = f"median {statistics.median(ratios):.3f}, worst {max(ratios):.3f}, {taken:.0f} s"
        report.row("overhead", f"{len(ratios)} kernels", {0: "kept", 1: "missed"}.get(code, "not done"), detail)
    if code != 0:
        report.line(f"    {first_line(complaint)}")


def chain(folder, name, kinds):
    """Writes a suite of these tests of the fault's suite, one after the other; returns its path."""
    origin = TESTDATA / "gpu_faults" / name
    head, healthy, faulty, _ = (origin / "suite.toml").read_text().split("[[test]]")
    blocks = {"healthy": healthy, "faulty": faulty}
    tests = [blocks[kind].replace(f'"{kind}"', f'"{kind} {number}"') for number, kind in enumerate(kinds)]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(origin / f"{name}.cl", folder)
    suite = folder / "suite.toml"
    suite.write_text("[[test]]".join([head, *tests]))
    return suite


def recovery(machine, report, name, is_ended):
    """How long it takes from a fault until the healthy test has run, with a worker that stands by and without."""
    with_faults = chain(machine.results / f"{name}-faults", name, ["healthy"] + ["faulty", "healthy"] * PAIRS)
    without = chain(machine.results / f"{name}-none", name, ["healthy"] * (1 + PAIRS))
    told = {}
    for standby in ("always", "never"):
        asked = lambda suite, tag: machine.ask(
            "run", suite, machine.device, "--timeout", str(FAULT_LIMIT), tag=f"-{standby}-{tag}", KASSAY_STANDBY=standby
        )
        base = statistics.median(asked(without, n)["seconds"] for n in range(3))
        runs = [asked(with_faults, n) for n in range(2)]
        lost = min(run["seconds"] for run in runs) - base
        told[standby] = lost / PAIRS - (FAULT_LIMIT if is_ended else 0)
        tests = [test["status"] for run in runs for test in (run["result"] or {"tests": []})["tests"] if "healthy" in test["name"]]
        if tests.count("passed") != 2 * (PAIRS + 1):
            report.row("recovery", f"{name}, {standby}", "lost", f"of the healthy tests {tests.count('passed')} of {2 * (PAIRS + 1)} passed")
    detail = f"{told['always']:.3f} s a fault with a worker that stands by, {told['never']:.3f} s without"
    report.row("recovery", name, "measured", detail, **told)


# What the commands call a healthy test that ran.
RAN = {"run": "passed", "cover": "completed", "schedule": "stable"}


def faults(machine, report, args, recorded):
    """Every suite of testdata/gpu_faults: statuses as expected, nothing lost, seconds until the healthy test has run again."""
    expected = json.loads((TESTDATA / "gpu_faults/expected.json").read_text())
    kind = machine.device.split(":")[0]
    for name, by_kind in expected.items():
        suite, wanted = TESTDATA / "gpu_faults" / name / "suite.toml", by_kind.get(kind)
        for question in ("run", "cover", "mutate", "schedule"):
            if question == "mutate" and wanted == "timeout":
                continue  # the original has a limit of its own there, of 60 s
            # The limit that mutate takes is a factor, not seconds.
            flags = ("-j", "1") if question == "mutate" else ("--timeout", str(FAULT_LIMIT))
            done = machine.ask(question, suite, machine.device, *flags, limit=60)
            if done["result"] is None or done["code"] not in (0, 1):
                report.row(question, name, "no result", f"exit code {done['code']}: {first_line(done['complaint'])}")
                continue
            tests = {test["name"]: test for test in done["result"]["tests"]}
            became = {title: test.get("status", test.get("verdict")) for title, test in tests.items()}
            lost = [title for title, end in became.items() if "healthy" in title and end != RAN.get(question, end)]
            faulty = tests.get("faulty", {})
            is_wanted = question != "run" or wanted is None or became.get("faulty") == wanted
            verdict = "lost" if lost or len(tests) != 3 else "expected" if is_wanted else "unexpected"
            mutated = f", {len(done['result']['mutants'])} mutants" if question == "mutate" else ""
            report.row(question, name, verdict, f"{became.get('faulty')}{mutated}, exit code {done['code']}, {done['seconds']:.2f} s. {faulty.get('reason') or ''} {'; '.join(lost)}".rstrip())
    for name, by_kind in expected.items():
        if by_kind.get(kind) in ("crashed", "timeout"):
            recovery(machine, report, name, by_kind[kind] == "timeout")
    left = workers_left(machine.kassay)
    report.row("processes", "workers", "left" if left else "none left", " ".join(map(str, left)))


def lines_of_finding(finding):
    places = sorted({access["line"] for access in finding.get("accesses", [])})
    return f"{finding['kind']} {finding.get('memory')} {finding.get('variable')} {places}"


def races(machine, report, args, recorded):
    """The benchmark `device_races`, and `kassay check` on the device beside the simulator on the fixtures of testdata/check."""
    if machine.bench("device_races") is None:
        report.row("bench", "device_races", "not there", "the pack has no such benchmark")
    else:
        code, output, complaint, taken = machine.run_bench("device_races", args.kernels, machine.left() * 0.6)
        for line in output.splitlines():
            report.line(f"    {line}")
        report.row("bench", "device_races", "done" if code == 0 else "not done", f"{taken:.0f} s, exit code {code}: {first_line(complaint)}")
    found = sorted((TESTDATA / "check").glob("*/suite.toml"))
    if args.suites:
        found = [path for path in found if any(path.match(f"{pattern}/suite.toml") for pattern in args.suites)]
    refused = 0
    for suite in found:
        device = machine.ask("check", suite, machine.device, "--timeout", "3", limit=30)
        if device["result"] is None and device["code"] in (2, 3):
            refused += 1
            report.row("check", shown(suite), "not run", first_line(device["complaint"]))
            if refused == 3 and suite == found[2]:
                return report.row("check", "others", "not run", "the device does not check: three suites in a row are refused")
            continue
        simulator = machine.ask("check", suite, "sim", "--timeout", "3", limit=30)
        if device["result"] is None or simulator["result"] is None:
            report.row("check", shown(suite), "not run", first_line(device["complaint"] or simulator["complaint"]))
            continue
        ours, theirs = ({lines_of_finding(one) for one in done["result"]["findings"]} for done in (device, simulator))
        missed, more = sorted(theirs - ours), sorted(ours - theirs)
        verdict = "same" if not missed and not more else "differs"
        detail = "; ".join([f"missed: {one}" for one in missed] + [f"only here: {one}" for one in more]) or f"{len(ours)} findings"
        report.row("check", shown(suite), verdict, f"{detail}; {device['seconds']:.2f} s, sim {simulator['seconds']:.2f} s", missed=missed, more=more)


# Suites of benches/overhead that are checked as they are, and the seconds that each check has.
LARGE = ["matmul_naive", "stencil_2d", "lu_step", "knapsack_dp"]
LARGE_BUDGET = 20

# Waits so often at barriers that the simulator does not come to its end; with RACE, the last work-item writes where the first one does.
WAITING = """kernel void waiting(global const int *in, global int *out, int rounds) {
  int i = get_global_id(0), sum = 0;
  for (int r = 0; r < rounds; r++) { sum += in[(i + r) & 1023]; barrier(CLK_LOCAL_MEM_FENCE); }
  out[i] = sum;
#ifdef RACE
  if (i == get_global_size(0) - 1) out[0] = 1;
#endif
}
"""
WAITING_SUITE = """kernel = "waiting.cl"
%s
[[test]]
global = [1048576]
local = [64]
args = { in = { fill = 1, len = 1024 }, out = { fill = 0, len = 1048576 }, rounds = 1024 }
"""


def large(machine, report, args, recorded):
    """Checks inputs that the simulator does not finish, or only just: verdict, what the device did, and how often it is repeated."""
    suites = [(name, REPOSITORY / "benches/overhead" / f"{name}.toml") for name in LARGE]
    for name, options in (("waiting", ""), ("waiting-racy", 'options = ["-DRACE"]')):
        folder = machine.results / name
        folder.mkdir()
        (folder / "waiting.cl").write_text(WAITING)
        (folder / "suite.toml").write_text(WAITING_SUITE % options)
        suites.append((name, folder / "suite.toml"))
    for name, suite in suites:
        done = machine.ask("check", suite, machine.device, "--budget", str(LARGE_BUDGET), "--no-amplify", limit=60, tag=f"-{name}")
        result = done["result"]
        if result is None:
            report.row("check", name, "not run", first_line(done["complaint"]))
            continue
        one = result["inputs"][0]
        device = one.get("device")
        there = f"{device['verdict']}, {device['pairs']} pairs, {device['kernel_ms']:.2f} ms" if device else "not asked"
        ended = "ran to its end" if one["completed"] else "was ended"
        report.row("check", name, result["verdict"], f"simulator {ended}, device {there}, {len(result['findings'])} findings, {done['seconds']:.1f} s")


# Kernels of whole runs of mutation, and how many tests their suites have.
END_TO_END = ["stencil_2d", "matmul_naive", "game_of_life"]
TESTS = [3, 30, 300]
# What is asked: every mutant until a test kills it, every mutant on every test, pairs of mutants, and those on every test.
MODES = {"first": [], "matrix": ["--full-matrix"], "pairs": ["--order", "2"], "pairs-matrix": ["--order", "2", "--full-matrix"]}


def make_suite(machine, report, kernel, count):
    """Has `kassay generate` make a suite of this many tests on the simulator; returns where it is, if it could be made. The seed and
    the limit on launches make it the same everywhere."""
    folder = machine.scratch / "suites" / f"{kernel}-{count}"
    source = folder.parent / kernel / f"{kernel}.cl"
    source.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(TESTDATA / kernel / f"{kernel}.cl", source)
    flags = ["--tests", count, "--seed", 1, "--max-execs", max(400, 2 * count), "--budget", 120, "--device", "sim", "--quiet"]
    code, _, complaint, taken = machine.run([machine.kassay, "generate", source, "-o", folder, *flags], 60)
    report.row("generate", f"{kernel}-{count}", "made" if code == 0 else "not made", f"{taken:.2f} s {first_line(complaint)}")
    return folder / "suite.toml"


def end_to_end(machine, report, args, recorded):
    """Whole processes of `kassay mutate`, with an empty cache and again with what that left: executions a second."""
    for kernel, count in itertools.product(args.end_to_end, args.tests):
        suite = make_suite(machine, report, kernel, count)
        if not suite.exists():
            continue
        for mode in args.modes:
            cache = machine.scratch / "caches" / f"{kernel}-{count}-{mode}"
            for run in ("cold", "warm"):
                flags = [*(["-j", str(args.threads)] if args.threads else []), *MODES[mode]]
                flags += ["--sample", str(args.sample)] if args.sample and mode.startswith("pairs") else []
                environment = {"XDG_CACHE_HOME": str(cache), "KASSAY_CACHE": str(cache / "kassay")}
                done = machine.ask("mutate", suite, machine.device, *flags, limit=60, tag=f"-{mode}-{run}", **environment)
                name = f"{kernel}-{count} {mode} {run}"
                if done["result"] is None:
                    report.row("mutate", name, "not run", first_line(done["complaint"]))
                    break
                told = done["result"]
                timing, elapsed = amounts(told), told["elapsed_s"]
                rate = timing["executions"] / elapsed
                number = len(told["mutants"])
                detail = f"{rate:.3g}/s: {number} mutants, {len(told['tests'])} tests, {timing['pairs']} pairs, {timing['executions']} executions in {elapsed:.2f} s (process {done['seconds']:.2f} s; "
                detail += f"build {timing['build_s']:.2f}, run {timing['run_s']:.2f}, equivalence {timing['equivalence_s']:.2f})"
                report.row("mutate", name, "done", detail, rate=rate, elapsed_s=elapsed, process_s=done["seconds"], timing=timing, mutants=number)


def device_mutants(machine, report, args, recorded):
    """The benchmark `device_mutants`: rates of launches on the device."""
    if machine.bench("device_mutants") is None:
        return report.row("bench", "device_mutants", "not there", "the pack has no such benchmark")
    code, output, complaint, taken = machine.run_bench("device_mutants", args.kernels, machine.left())
    for line in output.splitlines():
        report.line(f"    {line}")
    report.row("bench", "device_mutants", "done" if code == 0 else "not done", f"{taken:.0f} s, exit code {code}: {first_line(complaint)}")
