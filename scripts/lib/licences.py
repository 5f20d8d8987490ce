"""Writes the licences of the Rust libraries that a program contains: `licences.py MANIFEST... > FILE`.

Asks cargo for the libraries that the programs of the manifests are linked with on this host, without downloading anything, and
prints for each its name, version, authors and licence, and the texts of its files LICENSE*, LICENCE*, COPYING*, NOTICE*; equal texts
once. One without a licence is an error.
"""

import hashlib
import json
import pathlib
import subprocess
import sys


def packages(manifest):
    """The packages that the manifest's own depends on when it runs, those of its build and tests left out."""
    host = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = next(line.split()[1] for line in host.splitlines() if line.startswith("host:"))
    done = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", host, "--manifest-path", manifest],
        check=True, capture_output=True, text=True)
    metadata = json.loads(done.stdout)
    by_id = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    found, waiting = set(), [root]
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            if dependency["pkg"] not in found and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                found.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    return [by_id[one] for one in found if by_id[one]["source"]]


def texts(package):
    """The package's licence files, by name."""
    folder = pathlib.Path(package["manifest_path"]).parent
    names = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name.upper().startswith(names))
    return {file.name: file.read_text(errors="replace").strip() for file in files}


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    every = {package["id"]: package for manifest in sys.argv[1:] for package in packages(manifest)}
    every = sorted(every.values(), key=lambda package: (package["name"], package["version"]))
    shown = {}
    print("The Rust libraries in this program, and their licences.\n")
    for package in every:
        if not package["license"] and not package["license_file"]:
            sys.exit(f"error: {package['name']} {package['version']} names no licence")
        print(f"{package['name']} {package['version']}: {package['license'] or package['license_file']}")
        if package["authors"]:
            print(f"  authors: {', '.join(package['authors'])}")
        for name, text in texts(package).items():
            key = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:8]
            shown.setdefault(key, text)
            print(f"  {name}: text {key}")
    for key, text in shown.items():
        print(f"\n{'=' * 78}\ntext {key}\n\n{text}")


if __name__ == "__main__":
    main()
