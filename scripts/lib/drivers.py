"""OpenCL drivers other than the one that scripts/setup installs: where they are had, and how a program runs with one. Used by test-drivers."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

from hosts import stop

LIBRARIES = "usr/lib/x86_64-linux-gnu"


@dataclasses.dataclass
class Driver:
    """A driver: packages of a release of Debian, or wheels."""

    name: str
    release: str = ""
    packages: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    # What it lacks, by the name of a suite or a host program; `*`: for all of them.
    lacks: dict[str, str] = dataclasses.field(default_factory=dict)

    def prepare(self, work):
        """Downloads and unpacks what is not in WORK/NAME yet."""
        root = work / self.name
        if (root / "complete").exists():
            return root
        shutil.rmtree(root, ignore_errors=True)
        (root / "root").mkdir(parents=True)
        if self.wheels:
            self.unpack_wheels(root)
        elif self.packages:
            self.unpack_packages(root)
        (root / "complete").touch()
        return root

    def unpack_packages(self, root):
        """Has apt download what this machine lacks for the packages, with a state of its own, and unpacks it."""
        apt = root / "apt"
        for folder in ("etc/none", "state", "lists/partial", "archives/partial"):
            (apt / folder).mkdir(parents=True)
        (apt / "etc" / "sources.list").write_text(mirrors(self.release))
        options = {
            "Dir::Etc::sourcelist": apt / "etc" / "sources.list", "Dir::Etc::sourceparts": apt / "etc" / "none",
            "Dir::Etc::preferencesparts": apt / "etc" / "none", "Dir::State::Lists": apt / "lists", "Dir::Cache::archives": apt / "archives",
            "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "", "APT::Sandbox::User": "root",
        }
        command = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
        for words in (["update"], ["install", "--yes", "--download-only", "--no-install-recommends", *self.packages]):
            done = subprocess.run([*command, *words], check=False, capture_output=True, text=True)
            if done.returncode != 0:
                stop(f"{self.name} cannot be downloaded: {done.stderr.strip()}", "look at apt's messages; the network may be down")
        for package in sorted((apt / "archives").glob("*.deb")):
            subprocess.run(["dpkg", "-x", package, root / "root"], check=True)
        shutil.rmtree(apt)

    def unpack_wheels(self, root):
        """Has pip download the wheels, and unpacks their libraries into one folder."""
        wheels = root / "wheels"
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--disable-pip-version-check",
                               "--dest", wheels, *self.wheels], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            stop(f"{self.name} cannot be downloaded: {done.stderr.strip()}", "look at pip's messages; the network may be down")
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for entry in archive.infolist():
                    path = pathlib.PurePath(entry.filename)
                    # Not the loader that comes with it: programs have one.
                    if re.fullmatch(r"[^/]*\.data/data/lib/[^/]+", entry.filename) and not path.name.startswith("libOpenCL.so"):
                        (root / "root" / path.name).write_bytes(archive.read(entry))
        for library in (root / "root").glob("libtbb*.so.*.*"):
            link = library.parent / ".".join(library.name.split(".")[:3])
            if not link.exists():
                link.symlink_to(library.name)
        shutil.rmtree(wheels)

    def environment(self, work):
        """The environment that names this driver alone."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(("OCL_ICD", "OPENCL_VENDOR"))}
        root = work / self.name / "root"
        if self.wheels:
            env["OCL_ICD_VENDORS"] = str(root / "libintelocl.so")
            env["LD_LIBRARY_PATH"] = str(root)
        elif self.packages:
            env["OCL_ICD_VENDORS"] = str(root / "etc/OpenCL/vendors")
        return env | self.variables

    def inside(self, work, command):
        """The command with the driver's packages over /usr, in a mount namespace of its own."""
        if not self.packages:
            return command
        lower = work / self.name / "root" / "usr"
        return ["unshare", "--mount", "bash", "-c", 'mount -t overlay overlay -o "lowerdir=$1:/usr" /usr && shift && exec "$@"', "_",
                str(lower), *command]


def mirrors(release):
    """A source of packages like the machine's own, of another release."""
    listed = [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
    words = " ".join(file.read_text() for file in listed if file.is_file()).split()
    # Release names and security updates have mirrors of their own.
    mirror = next((word for word in words if word.startswith(("http://", "https://")) and word.rstrip("/").endswith("/debian")),
                  "http://deb.debian.org/debian")
    return f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror} {release} main\n"


NO_HALF = "the device has no half"
NO_DOUBLE = "the device has no double"

DRIVERS = [
    Driver("intel-2026.2"),
    Driver("intel-2024.2", wheels=("intel-opencl-rt==2024.2.1", "intel-cmplr-lib-rt==2024.2.1", "tbb==2021.13.*")),
    Driver("intel-2023.2", wheels=("intel-opencl-rt==2023.2.4", "intel-cmplr-lib-rt==2023.2.4", "tbb==2021.10.*"), lacks={"half_math": NO_HALF}),
    Driver("pocl-7", "sid", ("pocl-opencl-icd",)),
    Driver("pocl-6", "trixie", ("pocl-opencl-icd",)),
    Driver("pocl-3", "bookworm", ("pocl-opencl-icd",), lacks={"*": "the driver takes no SPIR-V"}),
    # Mesa's compiler takes the builtins of libclc, of the version that kassay has, so that the packages hide nothing of kassay's.
    Driver("rusticl", "sid", ("mesa-opencl-icd", "libclc-22"), variables={"RUSTICL_ENABLE": "llvmpipe"}, lacks={"double_math": NO_DOUBLE}),
]
