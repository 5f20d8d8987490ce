"""Host programs that others wrote: what they need, how they are built and run. Used by measure-hosts."""

import dataclasses
import hashlib
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

# Where the sources come from: the folder's name below WORK/sources, and the repository on GitHub.
SOURCES = {"PolyBench-ACC": "cavazos-lab", "Hetero-Mark": "NUCAR-DEV", "pyopencl": "inducer", "compute": "boostorg", "viennacl-dev": "viennacl",
           "CLBlast": "CNugteren", "clFFT": "clMathLibraries"}
DEBIAN = ["clinfo", "clpeak", "hashcat", "darktable", "ffmpeg", "x264", "libboost-dev", "libviennacl-dev", "libclblast-dev", "libclfft-dev"]
# Newer versions of pmcxcl have a kernel that Intel's runtime does not compile; this one brings an old ocl-icd, too. loopy 2025.2 takes no newer
# islpy.
PYTHON = ["pyopencl", "pytest", "numpy", "scipy", "mako", "pyclesperanto", "pmcxcl==0.1.4", "pyvkfft", "silx", "tinygrad", "opencv-python-headless",
          "dpctl", "dpnp", "kernel_tuner", "loopy==2025.2", "islpy==2025.2.5", "reikna"]
# What goes together with the last numba-dpex: libraries of DPC++ 2024, in an environment of their own.
NUMBA_DPEX = ["numba-dpex==0.23.0", "numba==0.59.1", "dpctl==0.17.0", "dpnp==0.15.0", "dpcpp-cpp-rt==2024.2.1", "numpy<2"]


@dataclasses.dataclass
class Program:
    """A program to measure."""

    name: str
    group: str  # the row of the tables
    command: list
    folder: pathlib.Path
    says: str | None = None  # what it says of its own result: the first group of each match, or the whole match
    build: list = dataclasses.field(default_factory=list)  # commands, of which each is run if the one before succeeded
    gpu: bool = False  # it insists on a GPU


def prepare(work):
    """Downloads and unpacks what is not there yet into WORK/root (Debian packages), WORK/venv, WORK/venv-dpex (Python packages) and WORK/sources."""
    for name, owner in SOURCES.items():
        target = work / "sources" / name
        if not target.is_dir():
            subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"https://github.com/{owner}/{name}", target], check=False)
    if not (work / "root").is_dir():
        (work / "debs" / "partial").mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "install", "--yes", "--download-only", "--no-install-recommends",
                        "-o", f"Dir::Cache::archives={work / 'debs'}", *DEBIAN], check=True)
        for package in sorted((work / "debs").glob("*.deb")):
            subprocess.run(["dpkg", "-x", package, work / "root"], check=True)
    if not (work / "venv").is_dir():
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
        subprocess.run([work / "venv" / "bin" / "pip", "install", "--quiet", *PYTHON], check=True)
    if not (work / "venv-dpex").is_dir():
        subprocess.run([sys.executable, "-m", "venv", work / "venv-dpex"], check=True)
        subprocess.run([work / "venv-dpex" / "bin" / "pip", "install", "--quiet", *NUMBA_DPEX], check=True)


def collected(work, options):
    """All programs for which WORK has what they need."""
    for name, collection in (("PolyBench-ACC", polybench), ("Hetero-Mark", hetero_mark), ("pyopencl", pyopencl), ("compute", boost_compute),
                             ("viennacl-dev", viennacl), ("CLBlast", clblast), ("clFFT", clfft)):
        root = work / "sources" / name
        if root.is_dir():
            yield from collection(root, work, options)
        else:
            print(f"{SOURCES[name]}/{name} is left out: {root} is not there", file=sys.stderr)
    yield from wheels(work)
    yield from numba_dpex(work)
    yield from packages(work)


def polybench(root, work, options):
    """The hosts of PolyBench-ACC's OpenCL folder: a C file each, with the kernels beside it. They compare with the CPU's results."""
    base = root / "OpenCL"
    for source in sorted(base.glob("*/**/*.c")):
        if source.parent.name == "utilities" or not list(source.parent.glob("*.cl")):
            continue
        folder = work / "run" / "polybench" / source.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        for kernel in source.parent.glob("*.cl"):
            shutil.copy(kernel, folder)
        target = folder / source.stem
        # Their own size is meant for GPUs: the reference on one core would take minutes.
        build = ["cc", "-O2", "-w", "-std=gnu11", "-fcommon", f"-D{options.dataset}_DATASET", "-I", base / "utilities", "-o", target, source,
                 "-lOpenCL", "-lm"]
        yield Program(f"polybench/{source.parent.name}", "PolyBench-ACC", [f"./{source.stem}"], folder,
                      r"(?:Non-Matching[^\n]*|Number of misses): (\d+)", [build], gpu=True)


def hetero_inputs(folder):
    """Input files in the formats of those Hetero-Mark programs that need one; the same in every run."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    (folder / "text.hex").write_text(draw.randbytes(1024).hex(), encoding="ascii")
    (folder / "key.hex").write_text(draw.randbytes(32).hex(), encoding="ascii")
    points = (f"{n} " + " ".join(f"{draw.random():.4f}" for _ in range(8)) for n in range(600))
    (folder / "points.txt").write_text("\n".join(points) + "\n", encoding="ascii")
    letters = ["".join(draw.choice("ACGT") for _ in range(length)) for length in (4096, 64)]
    (folder / "genes.txt").write_text("\n".join(letters) + "\n", encoding="ascii")
    nodes, degree = 256, 8
    numbers = [[nodes * degree, nodes], range(0, nodes * degree + 1, degree), [draw.randrange(nodes) for _ in range(nodes * degree)],
               [1 / degree] * (nodes * degree)]
    (folder / "network.txt").write_text("\n".join(" ".join(map(str, line)) for line in numbers) + "\n", encoding="ascii")


def hetero_mark(root, work, _):
    """Hetero-Mark's programs for OpenCL 1.2 and 2.0, built file by file (its own build wants other tools, too)."""
    home = work / "run" / "hetero-mark"
    inputs = home / "inputs"
    hetero_inputs(inputs)
    arguments = {"aes": ["-i", inputs / "text.hex", "-k", inputs / "key.hex"], "kmeans": ["-i", inputs / "points.txt"],
                 "ga": ["-i", inputs / "genes.txt"], "pr": ["-i", inputs / "network.txt", "-m", "20"], "ep": ["-m", "5", "-x", "256"],
                 "fir": ["-x", "256", "-y", "16"]}
    sources = root / "src"
    common = [file for file in sorted((sources / "common").rglob("*.cc")) if not file.stem.endswith("_test")]
    library = home / "common.a"
    # Its headers rely on what older standard libraries included.
    compiler = ["c++", "-O1", "-w", "-std=c++11", "-include", "stdexcept", "-pthread", "-I", root]
    objects = home / "common"
    # In a shell, so that it is made once, by the first program that is built.
    build_library = ["sh", "-c", 'test -e "$1" || { mkdir -p "$2" && cd "$2" && l=$1 && shift 2 && "$@" && ar rcs "$l" *.o; }', "sh", library, objects,
                     *compiler, "-c", *common]
    for main in sorted(sources.glob("*/cl[12][20]/main.cc")):
        name, version = main.parent.parent.name, main.parent.name
        folder = home / f"{name}-{version}"
        folder.mkdir(parents=True, exist_ok=True)
        for kernel in main.parent.glob("*.cl"):
            shutil.copy(kernel, folder)
        own = [file for file in [*main.parent.glob("*.cc"), *main.parent.parent.glob("*.cc")] if not file.stem.endswith("_test")]
        build = [*compiler, "-o", folder / name, *own, library, "-lOpenCL"]
        yield Program(f"hetero-mark/{name}-{version}", "Hetero-Mark", [f"./{name}", "-v", "-q", *arguments.get(name, [])], folder,
                      r"(?i)\w*(?:pass|fail|error|mismatch)\w*", [build_library, build], gpu=True)


PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
COUNTS = r"\d+ (?:passed|failed|error)[^\n]*?(?= in )"


def pyopencl(root, work, _):
    """pyopencl's examples that need no display and no input, and its test suites."""
    python = work / "venv" / "bin" / "python"
    if not python.exists():
        print(f"what is in Python is left out: {python} is not there", file=sys.stderr)
        return
    folder = work / "run" / "pyopencl"
    for part in ("test", "examples"):
        shutil.copytree(root / part, folder / part, dirs_exist_ok=True)
    wanted = ["demo", "demo_array", "demo_array_svm", "demo_elementwise", "demo_elementwise_complex", "demo_meta_template",
              "demo-struct-reduce", "n-body", "narray", "pi-monte-carlo", "svm", "transpose"]
    for name in wanted:
        if (folder / "examples" / f"{name}.py").is_file():
            yield Program(f"pyopencl/{name}", "pyopencl's examples", [python, f"{name}.py"], folder / "examples")
    for test in sorted((folder / "test").glob("test_*.py")):
        yield Program(f"pyopencl/{test.stem}", "pyopencl's tests", [python, *PYTEST, test.name], test.parent, COUNTS)


def compiled(root, work, sources, group, flags, libraries, name):
    """Programs of a source file each, against headers and libraries of WORK/root."""
    base = work / "root" / "usr"
    libs = base / "lib" / "x86_64-linux-gnu"
    for source in sources:
        path = root / source
        folder = work / "run" / name / path.stem
        folder.mkdir(parents=True, exist_ok=True)
        build = ["sh", "-c", 'test "$1" -nt "$2" || { shift 2; exec "$@"; }', "sh", folder / path.stem, path,
                 "cc" if path.suffix == ".c" else "c++", "-O1", "-w", *flags, "-I", base / "include", "-L", libs,
                 "-o", folder / path.stem, path, *libraries, "-lOpenCL"]
        yield Program(f"{name}/{path.stem}", group, inside(work, [f"./{path.stem}"]), folder, None, [build])


def boost_compute(root, work, _):
    """Boost.Compute's examples that need neither pictures nor a display."""
    names = ["black_scholes", "copy_data", "fizz_buzz", "hello_world", "host_sort", "longest_vector", "mapped_view",
             "memory_limits", "monte_carlo", "point_centroid", "price_cross", "print_vector", "simple_kernel", "simple_moving_average",
             "sort_vector", "threefry_engine", "time_copy", "transform_sqrt", "vector_addition"]
    sources = [f"example/{name}.cpp" for name in names]
    yield from compiled(root, work, sources, "Boost.Compute's examples", ["-std=c++14", "-DCL_TARGET_OPENCL_VERSION=120"], [], "boost")


def viennacl(root, work, _):
    """ViennaCL: tutorials, and tests whose exit code is a verdict."""
    names = ["custom-kernels", "blas1", "vector-range", "structured-matrices", "fft"]
    tests = ["scan", "scalar", "iterators", "vector_convert"]
    sources = [f"examples/tutorial/{name}.cpp" for name in names] + [f"tests/src/{name}.cpp" for name in tests]
    flags = ["-std=c++11", "-DVIENNACL_WITH_OPENCL", "-DCL_TARGET_OPENCL_VERSION=120", "-I", root]
    yield from compiled(root, work, sources, "ViennaCL's tutorials and tests", flags, [], "viennacl")


def clblast(root, work, _):
    """CLBlast's samples with Debian's library."""
    sources = [f"samples/{name}" for name in ("sgemm.cpp", "sgemm_batched.cpp", "dtrsm.cpp", "dgemv.c", "samax.c", "sasum.c", "cache.c")]
    flags = ["-I", "/usr/include/CL", "-DCL_TARGET_OPENCL_VERSION=120", "-DCL_USE_DEPRECATED_OPENCL_1_1_APIS", "-DCL_USE_DEPRECATED_OPENCL_1_2_APIS"]
    yield from compiled(root, work, sources, "CLBlast's samples", flags, ["-lclblast"], "clblast")


def clfft(root, work, _):
    """clFFT's examples with Debian's library."""
    sources = [f"src/examples/{name}.c" for name in ("fft1d", "fft2d", "fft3d")]
    yield from compiled(root, work, sources, "clFFT's examples", ["-DCL_TARGET_OPENCL_VERSION=120"], ["-lclFFT", "-lm"], "clfft")


# Programs for packages that have no example of their own: each calls the package, and checks or prints what it gets.
OWN = pathlib.Path(__file__).resolve().parent / "programs"


def wheels(work):
    """Python packages that bring OpenCL code, with loaders of their own, of the system, by ctypes or dlopen."""
    python = work / "venv" / "bin" / "python"
    if not python.exists():
        return
    folder = work / "run" / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    for program in sorted(OWN.glob("use_*.py")):
        name = program.stem.removeprefix("use_")
        yield Program(name, name, ["env", "DEV=CL", "OPENCV_OPENCL_DEVICE=:CPU:", python, program], folder, r"\w+ WRONG|\w+Error")
    tests = [f"silx.opencl.{test}" for test in
             ("test.test_addition", "test.test_array_utils", "test.test_doubleword", "test.test_kahan", "test.test_processing", "test.test_sparse",
              "test.test_stats", "codec.test.test_byte_offset", "sift.test.test_algebra", "sift.test.test_convol", "sift.test.test_preproc")]
    for test in tests:
        yield Program(f"silx/{test.rpartition('.')[2]}", "silx's tests", [python, *PYTEST, "--pyargs", test], folder, COUNTS)


def numba_dpex(work):
    """Kernels in Python, and SYCL of DPC++ 2024 with the runtime that came with it."""
    python, libraries = work / "venv-dpex" / "bin" / "python", work / "venv-dpex" / "lib"
    if not python.exists():
        return
    folder = work / "run" / "numba-dpex"
    folder.mkdir(parents=True, exist_ok=True)
    settings = [f"LD_LIBRARY_PATH={libraries}", f"OCL_ICD_FILENAMES={libraries / 'libintelocl.so'}", "ONEAPI_DEVICE_SELECTOR=opencl:cpu"]
    yield Program("numba_dpex", "numba-dpex", ["env", *settings, python, OWN / "numba_dpex_kernels.py"], folder, r"\w+ WRONG|\w+Error")


def picture(path):
    """Writes a small picture in the portable float format, which darktable reads."""
    width, height = 96, 64
    pixels = (value for y in range(height) for x in range(width) for value in (x / width, y / height, (x * y % 17) / 17))
    path.write_bytes(b"PF\n%d %d\n-1.0\n" % (width, height) + struct.pack(f"<{width * height * 3}f", *pixels))


def film(path):
    """Writes ten small frames, of which each is the one before, shifted."""
    width, height = 160, 96
    with path.open("wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F10:1 Ip A1:1 C420jpeg\n" % (width, height))
        for n in range(10):
            luma = bytes((x * 3 + 2 * n ^ y * 5) % 256 for y in range(height) for x in range(width))
            file.write(b"FRAME\n" + luma + bytes([128]) * (width * height // 2))


def inside(work, command):
    """The command with programs and libraries of WORK/root, if there is such a folder."""
    base = work / "root" / "usr"
    if not base.is_dir():
        return command
    libs = base / "lib" / "x86_64-linux-gnu"
    path = os.pathsep.join(map(str, [libs, base / "lib", *(libs / name for name in ("blas", "lapack", "pulseaudio", "darktable"))]))
    return ["env", f"LD_LIBRARY_PATH={path}", *command]


def packages(work):
    """Programs of the distribution: those of WORK/root or, if there is none, of PATH."""
    base = work / "root" / "usr"
    folder = work / "run" / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    picture(folder / "in.pfm")
    film(folder / "in.y4m")
    unpacked = base.is_dir()

    def tool(name):
        return str(base / "bin" / name) if unpacked else name

    cracker = tool("hashcat")
    if unpacked and (base / "bin" / "hashcat").exists():
        # An executable beside its data takes them from there; else it looks where the package would be installed.
        cracker = str(base / "share" / "hashcat" / "hashcat")
        if not pathlib.Path(cracker).exists():
            shutil.copy(base / "bin" / "hashcat", cracker)
    # A word of four letters, found again from its hash.
    digest = hashlib.md5(b"dusk", usedforsecurity=False).hexdigest()
    hashcat = [cracker, "-m", "0", "-a", "3", "-O", "-D", "1,2", "--force", "--potfile-disable", "--self-test-disable", "--quiet", digest, "?l?l?l?l"]
    places = ["--datadir", base / "share" / "darktable", "--moduledir", base / "lib" / "x86_64-linux-gnu" / "darktable"] if unpacked else []
    darktable = [tool("darktable-cli"), "in.pfm", "out.png", "--width", "80", "--height", "80", "--core", *places, "--configdir", folder / "darktable",
                 "--cachedir", folder / "darktable", "--library", ":memory:", "-d", "opencl"]
    film_command = [tool("ffmpeg"), "-v", "error", "-init_hw_device", "opencl=ocl:0.0", "-filter_hw_device", "ocl", "-i", "in.y4m", "-vf",
                    "format=yuv420p,hwupload,avgblur_opencl=3,unsharp_opencl,sobel_opencl,hwdownload,format=yuv420p", "-f", "md5", "-"]
    known = [
        Program("clinfo", "clinfo", [tool("clinfo")], folder, r"Number of platforms +\d+"),
        Program("clpeak", "clpeak", [tool("clpeak"), "--compute-sp", "--global-bandwidth"], folder, r"Single-precision compute"),
        Program("hashcat", "hashcat", ["sh", "-c", 'rm -rf "$(dirname "$1")/kernels"; exec "$@"', "sh", *hashcat], folder, rf"{digest}:\w+"),
        # What the run before has built is read again, as binaries.
        Program("hashcat-again", "hashcat, built before", hashcat, folder, rf"{digest}:\w+"),
        Program("darktable", "darktable-cli", ["sh", "-c", 'rm -rf out*.png darktable; exec "$@"', "sh", *darktable], folder,
                r"exported to[^\n]*|opencl_init\] FINALLY:[^\n]*", gpu=True),
        Program("x264", "x264", ["sh", "-c", 'rm -f x264_lookahead.clbin; exec "$@"', "sh", tool("x264"), "--quiet", "--opencl", "--threads", "1", "-o",
                         "out.264", "in.y4m"], folder, None, gpu=True),
        Program("x264-again", "x264, built before", [tool("x264"), "--quiet", "--opencl", "--threads", "1", "-o", "out.264", "in.y4m"], folder,
                None, gpu=True),
        Program("ffmpeg", "ffmpeg's filters", film_command, folder, r"MD5=\w+"),
    ]
    for program in known:
        name = {"darktable": "darktable-cli", "hashcat-again": "hashcat", "x264-again": "x264"}.get(program.name, program.name)
        if shutil.which(tool(name)):
            program.command = inside(work, program.command)
            yield program
        else:
            print(f"{program.name} is left out: there is no {tool(name)}", file=sys.stderr)
