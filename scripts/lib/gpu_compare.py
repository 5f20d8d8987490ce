"""The parts of scripts/test-gpu that compare: verdicts, covered outcomes and mutants, with the simulator and with Intel's runtime."""

import concurrent.futures

from gpu_machine import TESTDATA, TimeOver, first_line, shown

MUTATED = ["vector_add", "game_of_life", "matmul_naive", "stencil_2d", "bitonic_sort", "convolution_2d", "reduction_tree", "kmeans_assign"]


def verdicts(result):
    return {test["name"]: test["status"] for test in result["tests"]}


def outcomes(result):
    return {f"{site['id']} {site['outcome']}": site["covered"] for site in result["sites"]}


def statuses(result):
    return {mutant["id"]: mutant["status"] for mutant in result["mutants"]}


VIEWS = {"run": verdicts, "cover": outcomes, "mutate": statuses}


def suites(patterns):
    """The suites of testdata, or those whose folders below it match a pattern."""
    found = sorted(path for path in TESTDATA.rglob("suite.toml") if "gpu_faults" not in path.parts)
    if not patterns:
        return [path for path in found if path.parent.parent == TESTDATA]
    return [path for path in found if any(path.match(f"{pattern}/suite.toml") for pattern in patterns)]


def differing(ours, theirs):
    return [key for key in sorted(set(ours) | set(theirs)) if ours.get(key) != theirs.get(key)]


def compared(who, ours, theirs, most=3):
    """A sentence about where two views differ."""
    keys = differing(ours, theirs)
    some = ", ".join(f"{key}: {ours.get(key)}, {who} {theirs.get(key)}" for key in keys[:most])
    return f"{who} differs in {len(keys)} of {len(theirs)}: {some}" if keys else f"{who} agrees in {len(theirs)}"


def compare_suite(machine, report, question, suite, recorded):
    try:
        compare_answers(machine, report, question, suite, recorded)
    except TimeOver:
        raise
    except Exception as broken:  # the other suites still count
        report.row(question, shown(suite), "broken", repr(broken))


def compare_answers(machine, report, question, suite, recorded):
    view, name = VIEWS[question], shown(suite)
    device = machine.ask(question, suite, machine.device)
    simulator = machine.ask(question, suite, "sim")
    if device["result"] is None:
        return report.row(question, name, "not run", first_line(device["complaint"]), code=device["code"])
    ours = view(device["result"])
    others = {}
    if simulator["result"] is not None:
        others["sim"] = view(simulator["result"])
    if name in recorded.get(question, {}):
        others["intel"] = recorded[question][name]
    differences = {who: {key: [ours.get(key), theirs.get(key)] for key in differing(ours, theirs)} for who, theirs in others.items()}
    detail = "; ".join(compared(who, ours, theirs) for who, theirs in others.items()) or first_line(simulator["complaint"])
    verdict = "alone" if not others else "differs" if any(differences.values()) else "same"
    seconds = {"device_s": round(device["seconds"], 3), "sim_s": round(simulator["seconds"], 3)}
    report.row(question, name, verdict, detail, differences={who: keys for who, keys in differences.items() if keys}, **seconds)


def compare(machine, report, args, recorded):
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work = [
            pool.submit(compare_suite, machine, report, question, suite, recorded)
            for question in ("run", "cover") for suite in suites(args.suites)
        ]
        for done in work:
            done.result()


def amounts(result):
    """Times and amounts of work of a result of mutate."""
    return {key: value for key, value in ((result or {}).get("timing") or {}).items() if key != "originals_s"}


def reason(result, key):
    mutant = next((mutant for mutant in result["mutants"] if mutant["id"] == key), {})
    return mutant.get("reason", "")


def mutants(machine, report, args, recorded):
    """Each suite on the device, cold and warm, and on the simulator; every mutant whose status differs, with the reasons."""
    for name in args.mutate:
        suite = TESTDATA / name / "suite.toml"
        device = machine.ask("mutate", suite, machine.device, "-j", "1", limit=60)
        again = machine.ask("mutate", suite, machine.device, "-j", "1", limit=60, tag="-again")
        simulator = machine.ask("mutate", suite, "sim", "-j", str(args.jobs), limit=90)
        if device["result"] is None:
            report.row("mutate", name, "not run", first_line(device["complaint"]), code=device["code"])
            continue
        ours, others = statuses(device["result"]), {}
        if simulator["result"] is not None:
            others["sim"] = statuses(simulator["result"])
        if name in recorded.get("mutate", {}):
            others["intel"] = recorded["mutate"][name]
        if again["result"] is not None:
            others["again"] = statuses(again["result"])
        detail = "; ".join(compared(who, ours, theirs, most=0).rstrip(": ") for who, theirs in others.items())
        times = f"{device['seconds']:.2f} s, again {again['seconds']:.2f} s, sim {simulator['seconds']:.2f} s"
        keys = sorted({key for theirs in others.values() for key in differing(ours, theirs)})
        differences = []
        for key in keys:
            told = {"mutant": key, "device": ours.get(key), "reason": reason(device["result"], key)}
            told.update({who: theirs.get(key) for who, theirs in others.items()})
            if simulator["result"] is not None:
                told["reason_sim"] = reason(simulator["result"], key)
            told["reason_intel"] = recorded.get("reasons", {}).get(name, {}).get(key, "")
            differences.append(told)
        timing = {"timing": amounts(device["result"]), "timing_again": amounts(again["result"])}
        report.row("mutate", name, "differs" if keys else "same", f"{len(ours)} mutants; {detail}; {times}", differences=differences, **timing)
        for told in differences:
            where = ", ".join(f"{who} {told[who]}" for who in ("sim", "intel", "again") if who in told)
            report.line(f"    {told['mutant']}: {told['device']} ({told['reason'][:90]}); {where} ({told.get('reason_sim', '')[:90]})")


def record(machine, args):
    """What the device says of every suite, to be carried to another machine: verdicts, outcomes and statuses."""
    told = {"device": machine.facts().get("devices", ""), "run": {}, "cover": {}, "mutate": {}, "reasons": {}}

    def asked(question, suite):
        flags = ("-j", "1") if question == "mutate" else ()
        result = machine.ask(question, suite, machine.device, *flags, limit=300)["result"]
        if result is not None:
            told[question][shown(suite)] = VIEWS[question](result)
            if question == "mutate":
                told["reasons"][shown(suite)] = {one["id"]: one.get("reason", "")[:100] for one in result["mutants"]}

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        work = [pool.submit(asked, question, suite) for question in ("run", "cover") for suite in suites(args.suites)]
        work += [pool.submit(asked, "mutate", TESTDATA / name / "suite.toml") for name in args.mutate]
        for done in work:
            try:
                done.result()
            except TimeOver:
                pass
    return told
