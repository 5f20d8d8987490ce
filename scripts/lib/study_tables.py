"""The tables of docs/source-vs-ir.md, from results of `kassay compare`."""

import collections
import dataclasses
import functools
import json
import math
import pathlib

import numpy
from scipy import stats

LEVELS = ("source", "canonical", "ir:raw", "ir:O1", "ir:O2", "ir:O3")
IR = LEVELS[2:]
# concepts that only the IR has, and that of synchronisation
IR_ALONE, SYNCHRONISATION = "ir alone", "synchronisation"
RESAMPLES = 1000


@dataclasses.dataclass
class Kernel:
    """A compared kernel."""

    collection: str
    name: str
    result: dict

    @functools.cached_property
    def rows(self):
        """By level and concept."""
        return {(row["level"], row["concept"]): row for row in self.result["levels"]}

    @functools.cached_property
    def mutants(self):
        """By level: those that are run, and are no duplicates."""
        found = collections.defaultdict(list)
        for mutant in self.result["mutants"]:
            if mutant["status"] not in ("equivalent", "ignored", "compile-error", "pending") and not mutant.get("duplicate_of"):
                found[mutant["level"]].append(mutant)
        return found

    @functools.cached_property
    def tests(self):
        """How many tests judge the mutants."""
        return sum(test["status"] == "used" for test in self.result["tests"])


@dataclasses.dataclass
class Data:
    """All kernels, and the seed of random numbers."""

    kernels: list
    seed: int

    @staticmethod
    def read(folder: pathlib.Path, seed: int):
        kernels = []
        for path in sorted(folder.glob("*/*.json")):
            result = json.loads(path.read_text())
            kernels += [Kernel(path.parent.name, path.stem, kernel) for kernel in result["kernels"]]
        return Data(kernels, seed)

    def of(self, *collections_):
        """The kernels of some collections."""
        return Data([k for k in self.kernels if k.collection in collections_], self.seed)

    @property
    def with_all_levels(self):
        """The kernels that have every level: levels are compared on these."""
        return Data([k for k in self.kernels if all((level, "all") in k.rows for level in LEVELS)], self.seed)

    def random(self, *names):
        """A generator for one estimate."""
        return numpy.random.default_rng([self.seed, *"".join(names).encode()])

    def mean(self, values, *names):
        """The mean over kernels and its 95 % interval by the percentile bootstrap; nothing of no values."""
        values = numpy.array([v for v in values if v is not None and not math.isnan(v)], dtype=float)
        if not len(values):
            return None
        drawn = self.random(*names).integers(0, len(values), (RESAMPLES, len(values)))
        low, high = numpy.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
        return values.mean(), low, high, len(values)


def table(head, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def shown(estimate, digits=1):
    """An estimate as `mean [low, high]`."""
    if estimate is None:
        return "-"
    mean, low, high, _ = estimate
    return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def pool(data):
    """What is compared."""
    rows = []
    for name in sorted({k.collection for k in data.kernels}):
        part = data.of(name).kernels
        tests = [k.tests for k in part]
        rows.append([name, len(part), sum(all((level, "all") in k.rows for level in LEVELS) for k in part),
                     f"{numpy.median(tests):.0f} ({min(tests)} to {max(tests)})",
                     sum(len(k.result["mutants"]) for k in part)])
    return table(["collection", "kernels", "with all levels", "tests: median (range)", "mutants"], rows)


def counting(row):
    """How many mutants of a row are run and are no duplicates."""
    left_out = ("compile_error", "ignored", "equivalent", "duplicate")
    return row["generated"] - sum(row[key] for key in left_out)


def levels(data):
    """Numbers of mutants by level, sums over kernels; and means over kernels of what is counted for each."""
    rows = []
    for level in LEVELS:
        of = [k.rows[level, "all"] for k in data.kernels]
        total = lambda key: sum(row[key] for row in of)
        counted = sum(counting(row) for row in of)
        lines, instructions = (sum(row["code"][key] for row in of) for key in ("lines", "instructions"))
        rows.append([level, total("generated"), f"{total('generated') / max(lines, 1):.1f}",
                     f"{total('generated') / max(instructions, 1):.2f}", total("compile_error"),
                     total("equivalent"), total("equivalent_for_launches"), total("duplicate"), counted,
                     total("distinguished"), total("minimal"), f"{100 * total('minimal') / max(counted, 1):.1f}", total("hard"),
                     shown(data.mean([row["score"] for row in of], level, "score"))])
    return table(["level", "mutants", "a line", "an instruction", "do not compile", "equivalent", "for the launches (count)", "duplicates", "count", "distinguished", "minimal",
                  "minimal of those that count, %", "hard", "mean score, %"], rows)


def ratios(data):
    """Numbers of each level to those of the source, as geometric means over kernels."""
    rows = []
    for level in LEVELS[1:]:
        cells = []
        for key in ("generated", "distinguished", "minimal"):
            pairs = [(k.rows[level, "all"][key], k.rows["source", "all"][key]) for k in data.kernels]
            logs = [math.log(a / b) for a, b in pairs if a and b]
            found = data.mean(logs, level, key)
            cells.append("-" if found is None else f"{math.exp(found[0]):.2f} [{math.exp(found[1]):.2f}, {math.exp(found[2]):.2f}]")
        rows.append([level, *cells])
    return table(["level", "mutants", "distinguished", "minimal"], rows)


def matrix(data, key):
    """A table of two levels: means over kernels of a number of `cross`."""
    rows = []
    for of in LEVELS:
        cells = []
        for on in LEVELS:
            pairs = [c for k in data.kernels for c in k.result["cross"] if (c["adequate_on"], c["scored_on"]) == (of, on)]
            cells.append(shown(data.mean([c[key] for c in pairs], of, on, key)) if of != on else "")
        sizes = [next((c["suite_size"]["mean"] for c in k.result["cross"] if c["adequate_on"] == of), None) for k in data.kernels]
        rows.append([of, *cells, shown(data.mean(sizes, of, "size"))])
    return table(["of the line on the column", *LEVELS, "tests"], rows)


def sizes(kernel):
    """The sizes of sub-suites, from small to large, with their position among ten."""
    return sorted({row["tests"] for row in kernel.result["correlation"]})


def correlations(data, one="source"):
    """For each size of sub-suites: mean over kernels of Kendall's τ-b between the scores of a level and the others."""
    found = {}
    for other in LEVELS:
        for step in range(10):
            values, known = [], 0
            for kernel in data.kernels:
                all_sizes = sizes(kernel)
                if step >= len(all_sizes):
                    continue
                for row in kernel.result["correlation"]:
                    if {row["level"], row["other_level"]} == {one, other} and row["tests"] == all_sizes[step]:
                        known += 1
                        values += [row["kendall"]["mean"]] if row["kendall"] else []
            if known:
                found[other, step] = (data.mean(values, one, other, str(step)), len(values), known)
    return found


def correlation_table(data):
    found = correlations(data)
    rows = []
    for step in range(10):
        cells = []
        for other in LEVELS[1:]:
            estimate, defined, known = found.get((other, step), (None, 0, 0))
            cells.append(f"{shown(estimate, 2)} ({defined})")
        rows.append([f"{step + 1}/11", *cells])
    return table(["share of the pool", *(f"source, {other} (kernels)" for other in LEVELS[1:])], rows)


def within_sizes(data):
    """Correlations of the scores of two levels within sizes of sub-suites: means over kernels."""
    rows = []
    for i, one in enumerate(LEVELS):
        for other in LEVELS[i + 1:]:
            found = [row for k in data.kernels for row in k.result["correlation_within_sizes"]
                     if {row["level"], row["other_level"]} == {one, other}]
            rows.append([f"{one}, {other}", sum(bool(row["kendall"]) for row in found),
                         shown(mean_of(data, found, "kendall", one, other), 2), shown(mean_of(data, found, "pearson", one, other), 2)])
    return table(["scores", "kernels", "Kendall's τ-b", "Pearson"], rows)


def concepts(data):
    """For each concept and level: mutants that count, how many are detected and minimal."""
    names = sorted({concept for k in data.kernels for _, concept in k.rows if concept != "all"})
    rows = []
    for concept in names:
        cells = []
        for level in LEVELS:
            of = [k.rows[level, concept] for k in data.kernels if (level, concept) in k.rows]
            count = sum(counting(r) for r in of)
            detected = sum(r["killed"] + r["timeout"] + r["runtime_error"] for r in of)
            minimal = sum(r["minimal"] for r in of)
            cells.append(f"{count} / {100 * detected / count:.0f} / {minimal}" if count else "-")
        rows.append([concept, *cells])
    return table(["concept", *LEVELS], rows)


def kill_set(mutant):
    return frozenset(mutant["killed_by"])


def is_new(mutant, others):
    """Whether no detected mutant of the others subsumes it: tests that detect it need not detect it by those."""
    kills = kill_set(mutant)
    return not any(other <= kills for other in others)


def new_minimal(data):
    """By operator of the IR: minimal mutants, and those of them that no mutant of the source subsumes, at each level."""
    counts = collections.defaultdict(collections.Counter)
    for kernel in data.kernels:
        source = {kill_set(m) for m in kernel.mutants["source"] if m["killed_by"]}
        for level in IR:
            for mutant in kernel.mutants[level]:
                entry = counts[mutant["concept"], mutant["operator"]]
                entry[level, "count"] += 1
                if mutant["is_minimal"]:
                    entry[level, "minimal"] += 1
                    entry[level, "new"] += is_new(mutant, source)
    rows = []
    for (concept, operator), entry in sorted(counts.items(), key=lambda item: -item[1]["ir:O2", "new"]):
        rows.append([f"`{operator}`", concept, *(f"{entry[l, 'count']} / {entry[l, 'minimal']} / {entry[l, 'new']}" for l in IR)])
    return table(["operator", "concept", *IR], rows)


def minimal_suites(kills, tests, random, samples):
    """Yields random minimal suites that detect all: tests in random order, each kept if it detects more; then left out in
    random order where the others suffice."""
    kills = [k for k in kills if k]
    for _ in range(samples if kills else 0):
        left, suite = list(kills), []
        for test in random.permutation(tests):
            rest = [k for k in left if test not in k]
            if len(rest) < len(left):
                suite.append(int(test))
                left = rest
        for test in random.permutation(suite):
            without = [t for t in suite if t != test]
            if all(any(t in k for t in without) for k in kills):
                suite = without
        yield set(suite)


def synchronisation(data, samples=200):
    """For each level: mutants of synchronisation, and what suites detect of them that detect all other mutants."""
    rows = []
    for level in LEVELS:
        shares, minimal, alone, count, detected, kernels = [], 0, 0, 0, 0, 0
        for kernel in data.kernels:
            of = [m for m in kernel.mutants[level] if m["concept"] == SYNCHRONISATION]
            others = {kill_set(m) for m in kernel.mutants[level] if m["concept"] != SYNCHRONISATION and m["killed_by"]}
            kills = [kill_set(m) for m in of if m["killed_by"]]
            count, detected, kernels = count + len(of), detected + len(kills), kernels + bool(of)
            minimal += sum(m["is_minimal"] for m in of)
            alone += sum(is_new(m, others) for m in of if m["killed_by"])
            if kills and others:
                random = kernel_random(data, kernel, level)
                suites = minimal_suites(others, len(kernel.result["tests"]), random, samples)
                shares.append(100 * numpy.mean([sum(bool(s & k) for k in kills) / len(kills) for s in suites]))
        rows.append([level, kernels, count, detected, minimal, alone, shown(data.mean(shares, level, "sync"))])
    return table(["level", "kernels", "count", "detected", "minimal", "not subsumed by others of the level",
                  "detected by suites for the others, %"], rows)


def kernel_random(data, kernel, level):
    return data.random(kernel.collection, kernel.name, level)


def measures(data):
    """What is held against faults: levels for their scores, then coverage metrics."""
    names = {row["measure"] for k in data.kernels for row in k.result.get("against_faults_within_sizes", [])}
    return [level for level in LEVELS if level in names] + sorted(names - set(LEVELS))


def against_faults(data):
    """By measure: the rows of the kernels, of correlations within sizes of sub-suites with the share of faults found."""
    rows = [row for k in data.kernels for row in k.result.get("against_faults_within_sizes", [])]
    return {measure: [row for row in rows if row["measure"] == measure] for measure in measures(data)}


def mean_of(data, rows, key, *names):
    """The mean over kernels of a correlation, where it is defined."""
    return data.mean([row[key]["mean"] for row in rows if row[key]], key, *names)


def faults(data):
    """Found and hidden faults."""
    kinds = collections.defaultdict(collections.Counter)
    for kernel in data.kernels:
        for fault in kernel.result.get("faults", []):
            found = len(fault["found_by"])
            how = "none" if not found else "all" if found == kernel.tests else "some"
            kinds[kernel.collection][how] += 1
    rows = [[kind, *(count[how] for how in ("all", "some", "none"))] for kind, count in sorted(kinds.items())]
    return table(["faults of", "found by all tests", "by some", "by none"], rows)


def fault_table(data):
    rows = []
    for measure, found in against_faults(data).items():
        rows.append([measure, len(found), sum(bool(row["kendall"]) for row in found),
                     shown(mean_of(data, found, "kendall", measure), 2), shown(mean_of(data, found, "pearson", measure), 2)])
    return table(["measure", "kernels", "defined", "Kendall's τ-b", "Pearson"], rows)


def paired(data, base="source"):
    """For each measure: the mean difference to the base's correlation with finding faults, over kernels that have both."""
    rows = []
    for measure in measures(data):
        differences = []
        for kernel in data.kernels:
            found = {row["measure"]: row["kendall"] for row in kernel.result.get("against_faults_within_sizes", [])}
            if found.get(base) and found.get(measure):
                differences.append(found[measure]["mean"] - found[base]["mean"])
        if measure != base:
            rows.append([measure, len(differences), shown(data.mean(differences, measure, "paired"), 2)])
    return table(["measure", "kernels", f"τ-b less that of {base}"], rows)


def cost(data):
    """Seconds by level: sums, and the geometric mean of the ratio to the canonical form."""
    rows = []
    for level in LEVELS:
        of = [k.rows[level, "all"]["cost"] for k in data.kernels]
        base = [k.rows["canonical", "all"]["cost"] for k in data.kernels]
        logs = [math.log(a["elapsed_s"] / b["elapsed_s"]) for a, b in zip(of, base) if a["elapsed_s"] and b["elapsed_s"]]
        ratio = stats.gmean([math.exp(l) for l in logs]) if logs else float("nan")
        total = lambda key: sum(c[key] for c in of)
        rows.append([level, f"{total('build_s'):.0f}", f"{total('equivalence_s'):.0f}", f"{total('run_s'):.0f}",
                     f"{total('elapsed_s'):.0f}", total("builds"), total("executions"), f"{ratio:.2f}"])
    return table(["level", "build s", "equivalents s", "run s", "in all s", "builds", "executions", "ratio to canonical"], rows)


def twins(data):
    """Percent of a level's mutants that count which are the same program as one of another level."""
    rows = []
    for one in LEVELS:
        cells = []
        for other in LEVELS:
            have = total = 0
            for kernel in data.kernels:
                ids = {m["id"] for m in kernel.mutants[one]}
                total += len(ids)
                matched = {t["mutant"] for t in kernel.result["twins"] if (t["level"], t["other_level"]) == (one, other)}
                matched |= {t["other_mutant"] for t in kernel.result["twins"] if (t["other_level"], t["level"]) == (one, other)}
                have += len(ids & matched)
            cells.append("" if one == other else f"{100 * have / max(total, 1):.1f}")
        rows.append([one, *cells])
    return table(["of the line on the column, %", *LEVELS], rows)


def tables(data):
    """All tables, with headings."""
    full = data.with_all_levels
    parts = [("Kernels", pool(data)), ("Levels", levels(full)), ("To the source", ratios(full))]
    for name in sorted({k.collection for k in full.kernels}):
        parts.append((f"To the source: {name}", ratios(full.of(name))))
    parts += [
        ("Cross-adequacy", matrix(full, "mean")),
        ("Minimal mutants subsumed", matrix(full, "minimal_subsumed")),
        ("Correlation of scores within sizes", within_sizes(full)),
        ("Kendall's τ-b of scores with the source's, by size", correlation_table(full)),
        ("Twins", twins(full)),
        ("Concepts: count / detected, % / minimal", concepts(full)),
        ("Operators of the IR: count / minimal / not subsumed by the source", new_minimal(full)),
        ("Synchronisation", synchronisation(full)),
        ("Faults", faults(data)),
        ("Measures against faults", fault_table(data)),
        ("Measures against faults: differences", paired(data)),
        ("Cost", cost(full)),
    ]
    return "\n".join(f"## {name}\n\n{text}" for name, text in parts)
