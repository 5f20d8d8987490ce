"""The figures of docs/source-vs-ir.md, as SVG with text as text."""

import math

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the choice of a back end without a screen
import numpy
import study_tables as st

# Okabe and Ito's colours, which also colour-blind readers tell apart
COLOURS = dict(zip(st.LEVELS, ("#000000", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00")))
plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kassay", "font.family": "sans-serif", "font.size": 9,
                     "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True})


def save(figure, folder, name):
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def ratios(data, folder):
    """Mutants, distinguished and minimal ones of each level, by those of the source: geometric means over kernels."""
    figure, axis = plt.subplots(figsize=(6.4, 3.0))
    keys = {"generated": "mutants", "distinguished": "distinguished", "minimal": "minimal"}
    for at, level in enumerate(st.LEVELS[1:]):
        for place, key in enumerate(keys):
            pairs = [(k.rows[level, "all"][key], k.rows["source", "all"][key]) for k in data.kernels]
            found = data.mean([math.log(a / b) for a, b in pairs if a and b], level, key)
            if found is None:
                continue
            mean, low, high = (math.exp(v) for v in found[:3])
            x = place + (at - 2) * 0.15
            axis.bar(x, mean, 0.14, color=COLOURS[level], label=level if place == 0 else None)
            axis.errorbar(x, mean, [[mean - low], [high - mean]], color="#555555", linewidth=1)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xticks(range(len(keys)), keys.values())
    axis.set_ylabel("ratio to the source")
    axis.legend(frameon=False, ncols=5, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.16))
    save(figure, folder, "ratios")


def heat_map(data, key, label, folder, name):
    """A number of `cross`, means over kernels, for each ordered pair of levels."""
    values = numpy.full((len(st.LEVELS),) * 2, numpy.nan)
    for i, of in enumerate(st.LEVELS):
        for j, on in enumerate(st.LEVELS):
            rows = [c[key] for k in data.kernels for c in k.result["cross"] if (c["adequate_on"], c["scored_on"]) == (of, on)]
            known = [v for v in rows if v is not None]
            if known:
                values[i, j] = numpy.mean(known)
    figure, axis = plt.subplots(figsize=(4.6, 3.8))
    picture = axis.imshow(values, cmap="viridis")
    middle = (numpy.nanmin(values) + numpy.nanmax(values)) / 2
    for (i, j), value in numpy.ndenumerate(values):
        if not math.isnan(value):
            axis.text(j, i, f"{value:.1f}", ha="center", va="center", color="white" if value < middle else "black")
    axis.set_xticks(range(len(st.LEVELS)), st.LEVELS, rotation=30, ha="right")
    axis.set_yticks(range(len(st.LEVELS)), st.LEVELS)
    axis.set_xlabel(label)
    axis.set_ylabel("minimal suites or mutants of")
    figure.colorbar(picture, shrink=0.8)
    save(figure, folder, name)


def correlation(data, folder):
    """Kendall's τ-b of each level's score with the source's, by the share of the pool that sub-suites have."""
    found = st.correlations(data)
    figure, axis = plt.subplots(figsize=(6.4, 3.0))
    for level in st.LEVELS[1:]:
        points = [(step, *found[level, step][0][:3]) for step in range(10) if found.get((level, step), (None,))[0]]
        if points:
            steps, means, lows, highs = zip(*points)
            shares = [100 * (s + 1) / 11 for s in steps]
            axis.plot(shares, means, marker="o", markersize=3, color=COLOURS[level], label=level)
            axis.fill_between(shares, lows, highs, color=COLOURS[level], alpha=0.12, linewidth=0)
    axis.set_xlabel("tests in the sub-suites, % of the pool")
    axis.set_ylabel("Kendall's τ-b with the source")
    axis.set_ylim(0, 1.02)
    axis.legend(frameon=False, fontsize=8)
    save(figure, folder, "correlation")


def against_faults(data, folder):
    """Each measure's correlation with finding faults at a fixed size of suites: means over kernels."""
    found = {}
    for measure, rows in st.against_faults(data).items():
        estimate = st.mean_of(data, rows, "kendall", measure)
        if estimate:
            found[measure] = estimate
    if not found:
        return
    names = sorted(found, key=lambda name: found[name][0])
    figure, axis = plt.subplots(figsize=(6.4, 0.6 + 0.28 * len(names)))
    for y, name in enumerate(names):
        mean, low, high, count = found[name]
        axis.errorbar(mean, y, xerr=[[mean - low], [high - mean]], marker="o", markersize=4, color=COLOURS.get(name, "#666666"))
    axis.set_yticks(range(len(names)), [f"{name} ({found[name][3]})" for name in names])
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_xlabel("Kendall's τ-b with the share of faults found (kernels)")
    save(figure, folder, "faults")


def cost(data, folder):
    """Seconds of each level by what they are for, sums over kernels."""
    figure, axis = plt.subplots(figsize=(6.4, 2.6))
    left = numpy.zeros(len(st.LEVELS))
    for key, label, colour in (("build_s", "compile, weave, build", "#0072B2"), ("equivalence_s", "equivalents", "#E69F00"),
                               ("run_s", "run", "#009E73")):
        values = numpy.array([sum(k.rows[level, "all"]["cost"][key] for k in data.kernels) for level in st.LEVELS])
        axis.barh(range(len(st.LEVELS)), values, left=left, color=colour, label=label)
        left += values
    axis.set_yticks(range(len(st.LEVELS)), st.LEVELS)
    axis.invert_yaxis()
    axis.set_xlabel("seconds, all kernels")
    axis.legend(frameon=False, ncols=3, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.2))
    save(figure, folder, "cost")


def draw(data, folder):
    """Draws all figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    full = data.with_all_levels
    ratios(full, folder)
    heat_map(full, "mean", "of the mutants of, % detected", folder, "cross")
    heat_map(full, "minimal_subsumed", "of the minimal mutants of, % subsumed", folder, "subsumed")
    correlation(full, folder)
    against_faults(data, folder)
    cost(full, folder)
