"""Reads reports of kassay with tools that were made for their formats.

usage: read-formats.py TOOLS FOLDER

TOOLS is the folder that scripts/test-formats fills. Reports in FOLDER are told apart by the endings of their names. Prints what
each reader says, and ends with 1 if one refuses a report.
"""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import cmarkgfm
import junitparser
from lxml import etree
from pycobertura import Cobertura
from sarif.loader import load_sarif_file


def sarif(path, tools):
    """Microsoft's validator with the published schema, and sarif-tools, must both take the log."""
    said = path.with_suffix(".validation")
    validator = tools / "node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"
    done = subprocess.run(
        [validator, "validate", path, "--output", said, "--log", "ForceOverwrite;PrettyPrint"],
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        capture_output=True,
        text=True,
    )
    assert said.exists(), done.stdout + done.stderr
    results = json.loads(said.read_text(encoding="utf-8-sig"))["runs"][0].get("results", [])
    errors = [r for r in results if r.get("level", "warning") == "error"]
    assert not errors, json.dumps(errors[:3], indent=1)
    log = load_sarif_file(str(path))
    ours = json.loads(path.read_text())["runs"][0]["results"]
    assert log.get_result_count() == len(ours)
    return f"{len(ours)} results; the validator: no error, {len(results)} remarks"


def junit(path, tools):
    report = junitparser.JUnitXml.fromfile(str(path))
    cases = [case for suite in report for case in suite]
    failures = [r for case in cases for r in case.result if isinstance(r, junitparser.Failure)]
    assert report.tests == len(cases) and report.failures == len(failures)
    return f"{len(cases)} cases, {len(failures)} failures"


def cobertura(path, tools):
    coverage = Cobertura(str(path))
    rate = coverage.line_rate()
    root = etree.parse(str(path)).getroot()
    lines = [line for line in root.findall(".//class/lines/line")]
    hit = [line for line in lines if int(line.get("hits")) > 0]
    assert abs(rate - len(hit) / len(lines)) < 1e-3, rate
    assert coverage.total_statements() == len(lines) == int(root.get("lines-valid"))
    return f"{len(coverage.files())} files, {len(lines)} lines, rate {rate}"


def code_quality(path, tools):
    """GitLab's page on the report format names these fields and severities."""
    entries = json.loads(path.read_text())
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}, entry
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert not entry["location"]["path"].startswith("./")
        assert isinstance(entry["location"]["lines"]["begin"], int)
        assert all(isinstance(entry[key], str) and entry[key] for key in ("description", "check_name", "fingerprint"))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    return f"{len(entries)} entries"


def table(path, tools):
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file, strict=True)
    assert rows and all(len(row) == len(head) for row in rows)
    return f"{len(rows)} rows"


def markdown(path, tools):
    """GitHub's own parser must see tables, and no markup but ours."""
    html = cmarkgfm.github_flavored_markdown_to_html(path.read_text(), options=cmarkgfm.Options.CMARK_OPT_UNSAFE)
    tags = set(re.findall(r"</?([A-Za-z][A-Za-z0-9]*)", html))
    known = {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "details", "summary", "ul", "li", "strong", "br", "pre"}
    assert tags <= known, tags - known
    return f"{html.count('<tr')} rows"


def github(path, tools):
    """Undoes the escapes as the runner of GitHub Actions does."""
    commands = [line for line in path.read_text().splitlines() if line.startswith("::")]
    for line in commands:
        command = re.fullmatch(r"::(error|warning|notice) (.*?)::(.*)", line)
        assert command, line
        for pair in command[2].split(","):
            assert re.fullmatch(r"(file|line|endLine|col|endColumn|title)=[^:,]+", pair), line
        assert not re.search(r"%(?!25|0D|0A|3A|2C)", command[2] + command[3]), line
    return f"{len(commands)} annotations"


READERS = {
    ".sarif": sarif,
    ".junit.xml": junit,
    ".cobertura.xml": cobertura,
    ".codequality.json": code_quality,
    ".csv": table,
    ".md": markdown,
    ".github": github,
}


def main():
    tools, folder = Path(sys.argv[1]), Path(sys.argv[2])
    good = bad = 0
    for path in sorted(folder.iterdir()):
        reader = next((reader for ending, reader in READERS.items() if path.name.endswith(ending)), None)
        if reader is None:
            continue
        try:
            print(f"{path.name}: {reader(path, tools)}")
            good += 1
        except Exception as e:  # whatever a reader says against a report
            print(f"{path.name}: {type(e).__name__}: {e}")
            bad += 1
    print(f"{good} passed, {bad} failed")
    sys.exit(bad > 0 or good == 0)


main()
