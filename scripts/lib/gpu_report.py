"""What scripts/test-gpu finds: one table on the terminal and in a file, and everything in JSON, written as it goes."""

import collections
import json
import os
import pathlib
import tarfile
import threading
import time

# The most that a file in the output folder may have, in bytes.
LARGEST = 15 << 20


class Report:
    """The table and the results in the folder `out`: `table.txt`, `results.json`, and `raw-PART.tar.gz` for each part."""

    def __init__(self, out):
        out.mkdir(parents=True, exist_ok=True)
        self.out = out
        self.table = open(out / "table.txt", "w")
        self.told = {"machine": {}, "parts": {}}
        self.part = None
        self.saved = 0.0
        self.lock = threading.RLock()

    def line(self, text=""):
        with self.lock:
            print(text, flush=True)
            print(text, file=self.table, flush=True)

    def machine(self, facts):
        self.told["machine"] = facts
        for key, value in facts.items():
            self.line(f"{key}: {value}")
        self.save()

    def begin(self, part, limit):
        self.part = {"limit_s": limit, "ended": "unfinished", "rows": []}
        self.told["parts"][part] = self.part
        self.line(f"\n{part}, at most {limit:.0f} s")
        self.save()

    def row(self, what, name, verdict, detail="", **more):
        """Adds a row to the part: what was asked, of what, a word that says how it went, and the details."""
        with self.lock:
            self.part["rows"].append({"what": what, "name": name, "verdict": verdict, "detail": detail, **more})
            self.line(f"  {what:<10} {name:<28} {verdict:<12} {detail}"[:400])
            if time.monotonic() - self.saved > 2:
                self.save()

    def end(self, ended, seconds):
        """Ends the part: `done`, or why it did not come to its end."""
        with self.lock:
            self.part["ended"] = ended
            self.part["seconds"] = round(seconds, 2)
            counts = collections.Counter((row["what"], row["verdict"]) for row in self.part["rows"])
            of = collections.Counter(row["what"] for row in self.part["rows"])
            sums = [f"{what}: {count} of {of[what]} {verdict}" for (what, verdict), count in sorted(counts.items())]
            self.part["summary"] = "; ".join(sums)
            self.line(f"  {ended} after {seconds:.1f} s. {self.part['summary']}")
            self.save()

    def save(self):
        with self.lock:
            draft = self.out / "results.json.new"
            draft.write_text(json.dumps(self.told, indent=1, default=str))
            os.replace(draft, self.out / "results.json")
            self.saved = time.monotonic()

    def keep(self, part, folder):
        """Packs the files that a part left, the largest ones left out if they are too many."""
        files = sorted((path for path in pathlib.Path(folder).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
        archive = self.out / f"raw-{part}.tar.gz"
        while files:
            with tarfile.open(archive, "w:gz", compresslevel=6) as packed:
                for path in files:
                    packed.add(path, f"{part}/{path.relative_to(folder)}")
            if archive.stat().st_size <= LARGEST:
                return
            dropped = files[len(files) * 3 // 4:]
            files = files[:len(files) * 3 // 4]
            self.line(f"  too large for {archive.name}: {len(dropped)} files from {dropped[0].name} on")

    def close(self, seconds):
        self.line(f"\n{seconds:.0f} s in all")
        self.told["seconds"] = round(seconds, 1)
        for part, told in self.told["parts"].items():
            self.line(f"  {part:<10} {told['ended']:<10} {told.get('summary', '')}"[:400])
        self.save()
        self.table.close()
