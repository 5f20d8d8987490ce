# shellcheck shell=bash
# Installs what is missing to build and run kassay. Sourced by scripts/setup, quickstart, test and test-targets and by
# .ci/run, which set `-euo pipefail`; it only defines functions.
#
#   setup_all       checks Rust, installs Debian packages, the OpenCL runtime and the translator of SPIR-V; idempotent, fast
#                   if nothing is missing
#   setup_packages  only the Debian packages
#   setup_runtime   only the OpenCL runtime and the translator

# The Debian packages that kassay needs. clang, LLVM and libclc 22 come from bookworm-security.
readonly SETUP_PACKAGES=(
  clang-22            # compiles kernels
  llvm-22-dev         # LLVM, which kassay links (with llvm-config-22)
  libclang-22-dev     # headers and libraries of clang, for the part of kassay that runs clang in process
  g++                 # compiles that part
  libclc-22           # OpenCL's builtins as LLVM IR
  llvm-spirv-15       # reads .spv kernels where the newer translator below cannot be had
  spirv-tools         # reads .spvasm kernels; spirv-val's word about .spv kernels
  libz3-dev           # the solver (also required by llvm-22-dev)
  ocl-icd-libopencl1  # libOpenCL.so.1, the loader of OpenCL runtimes
  ocl-icd-opencl-dev  # headers and libOpenCL.so for the host programs of the layer's tests
)

# Intel's CPU runtime for OpenCL: the Python wheels that contain it, pinned by version and hash.
readonly SETUP_OPENCL_VERSION=2026.2.0
readonly SETUP_OPENCL_WHEELS="\
intel-opencl-rt==2026.2.0 --hash=sha256:6b6215a420598b4999ee01caca6d5cbe106aa4155c46c52377619c5aafce9f67
intel-cmplr-lib-rt==2026.2.0 --hash=sha256:9f713083073a820d2496a6da8e8d4f3482aba6640f74521d25ea48dcebe72748
tbb==2023.2.0 --hash=sha256:7d80615b6e970f11671fa05b6eaa9483ac864fbfe525ac280271a78b37870b7c"

# Khronos' translator between SPIR-V and LLVM IR, newer than Debian's: the Python wheel that contains it.
readonly SETUP_TRANSLATOR_VERSION=2024.2.0
readonly SETUP_TRANSLATOR_WHEEL="\
dpcpp-llvm-spirv==2024.2.0 --hash=sha256:6b090eb836186055d26f3e8f125372f9c8a1b7def3c323a74a6e868c61b21d1e"

say() { printf '==> %s\n' "$*" >&2; }

# die MESSAGE [HELP]: exits with code 3, which kassay uses for a lacking environment.
die() {
  printf 'error: %s\n' "$1" >&2
  [[ -z ${2-} ]] || printf '  help: %s\n' "$2" >&2
  exit 3
}

# have TOOLS...: succeeds if all of them are on PATH.
have() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || return; done
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif ! have sudo; then
    die "installing packages needs root, and there is no sudo" "as root: apt-get install ${SETUP_PACKAGES[*]}"
  elif [[ -t 0 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# apt ARGS...: runs apt-get without prompts; retries downloads and waits for the lock of another apt.
apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600 "$@" \
    </dev/null >&2
}

# missing_packages PACKAGES...: prints those that are not installed, one per line.
missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    grep -qxF "installed $package" <<<"$installed" || printf '%s\n' "$package"
  done
}

install_packages() {
  local missing package
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  say "installing Debian packages: ${missing[*]}"
  apt update || die "apt-get update failed" "look at its messages above: the network, or /etc/apt/sources.list"
  for package in "${missing[@]}"; do
    if [[ -z $(apt-cache show --no-all-versions "$package" 2>/dev/null) ]]; then
      die "apt knows no package $package" \
        "LLVM 22 is in Debian 12's security updates: enable 'bookworm-security main' in /etc/apt/sources.list (elsewhere, install ${SETUP_PACKAGES[*]} by other means)"
    fi
  done
  apt install --no-install-recommends "${missing[@]}" || die "apt-get could not install ${missing[*]}"
}

setup_packages() {
  if have apt-get dpkg-query; then
    install_packages "${SETUP_PACKAGES[@]}"
    return
  fi
  local tool
  for tool in clang-22 llvm-config-22 llvm-spirv-15 spirv-as; do
    have "$tool" || die "$tool is not on PATH, and this is not a Debian that could install it" \
      "install what Debian 12 calls ${SETUP_PACKAGES[*]}"
  done
}

setup_rust() {
  [[ ! -d $HOME/.cargo/bin ]] || PATH=$PATH:$HOME/.cargo/bin
  have cargo rustc || die "cargo and rustc are not on PATH" "install Rust (rustup, stable toolchain)"
  local wanted found
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../../Cargo.toml")
  found=$(rustc --version | cut -d ' ' -f 2)
  if [[ $(printf '%s\n' "$wanted" "$found" | sort -V | head -n 1) != "$wanted" ]]; then
    die "Rust $found is too old: kassay needs $wanted" "rustup update stable"
  fi
}

# python_with_pip: prints the command of a python3 that has pip; installs one if there is none.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      printf '%s\n' "$python"
      return
    fi
  done
  have apt-get || die "python3 has no pip" "install pip for python3"
  install_packages python3 python3-pip
  printf '%s\n' /usr/bin/python3
}

# unpack_opencl PYTHON WHEELS LIB: unpacks the files that launches need from the wheels in WHEELS, flat into LIB, and
# the licences beside it. Left out are the loader (Debian's is used), copies under other names, the link-time
# optimiser, tracing and NUMA binding.
unpack_opencl() {
  "$1" - "$2" "$3" <<'PY'
import fnmatch, os, pathlib, shutil, sys, zipfile

wheels, lib = map(pathlib.Path, sys.argv[1:])
WANTED = {
    "intel_opencl_rt": ["libintelocl.so", "libcommon_clang.so.*", "libocl_svml_*.so", "*.rtl", "cllibrary*.o", "cl.cfg"],
    "intel_cmplr_lib_rt": ["libimf.so", "libsvml.so", "libirng.so", "libintlc.so.5"],
    "tbb": ["libtbb.so.12", "libtbbmalloc.so.2"],
}
lib.mkdir()
for name, patterns in WANTED.items():
    (wheel,) = wheels.glob(name + "-*.whl")
    licences = lib.parent / "licences" / name
    licences.mkdir(parents=True)
    found = set()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = pathlib.PurePosixPath(member.filename)
            if path.suffix == ".txt" and path.name != "top_level.txt":
                target = licences / path.name
            elif str(path.parent).endswith(".data/data/lib"):
                matching = [p for p in patterns if fnmatch.fnmatchcase(path.name, p)]
                if not matching:
                    continue
                found.update(matching)
                target = lib / path.name
            else:
                continue
            with archive.open(member) as source, open(target, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
                os.fchmod(sink.fileno(), 0o755 if ".so" in path.name else 0o644)
    lost = set(patterns) - found
    if lost:
        sys.exit(f"error: {wheel.name} lacks {', '.join(sorted(lost))}")
PY
}

# data_home: prints the folder that all clones share and kassay searches. A relative XDG_DATA_HOME is ignored.
data_home() {
  local data=$HOME/.local/share
  if [[ ${XDG_DATA_HOME-} == /* ]]; then data=$XDG_DATA_HOME; fi
  printf '%s\n' "$data/kassay"
}

# opencl_ready HOME: succeeds if exactly the pinned runtime is installed. Its marker file is renamed into place with it.
opencl_ready() {
  local runtime=$1/intel-$SETUP_OPENCL_VERSION
  [[ -f $runtime/installed && $(<"$runtime/installed") == "$SETUP_OPENCL_WHEELS" ]] &&
    [[ -f $1/vendors/intel.icd && $(<"$1/vendors/intel.icd") == "$runtime/lib/libintelocl.so" ]]
}

# fetch_opencl HOME: downloads, unpacks and checks the runtime in a folder beside the final one, then renames it.
fetch_opencl() (
  home=$1
  runtime=$home/intel-$SETUP_OPENCL_VERSION
  exec 9>"$home/lock"
  flock 9
  if opencl_ready "$home"; then exit 0; fi # another run was faster
  rm -rf "$home"/unpacking.* # left by a killed run: only the holder of the lock may have one
  python=$(python_with_pip)
  work=$(mktemp -d "$home/unpacking.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  say "installing Intel's CPU runtime for OpenCL $SETUP_OPENCL_VERSION to $runtime"
  say "(260 MB to download, 400 MB on disk; under Intel's licence, which is put beside it)"
  printf '%s\n' "$SETUP_OPENCL_WHEELS" >"$work/requirements"
  mkdir "$work/wheels" "$work/new"
  quiet=()
  [[ -t 2 ]] || quiet=(--quiet) # no progress bars into logs
  "$python" -m pip --no-input download "${quiet[@]}" --no-deps --no-cache-dir --only-binary=:all: --require-hashes \
    --retries 5 --disable-pip-version-check --dest "$work/wheels" --requirement "$work/requirements" </dev/null >&2 ||
    die "the download of the OpenCL runtime failed" "look at pip's messages above; then run this again"
  unpack_opencl "$python" "$work/wheels" "$work/new/lib" || die "the OpenCL runtime could not be unpacked"
  if lost=$(ldd "$work/new/lib/libintelocl.so" | grep 'not found'); then
    die "the OpenCL runtime does not load here: $lost" "install the packages that hold these libraries"
  fi
  cp "$work/requirements" "$work/new/installed"
  chmod -R u=rwX,go=rX "$work/new"
  if [[ -e $runtime ]]; then mv -T "$runtime" "$work/old"; fi
  mv -T "$work/new" "$runtime"
  mkdir -p "$home/vendors"
  printf '%s\n' "$runtime/lib/libintelocl.so" >"$work/intel.icd"
  chmod 644 "$work/intel.icd"
  mv -T "$work/intel.icd" "$home/vendors/intel.icd"
)

setup_opencl() {
  local variable home
  for variable in OCL_ICD_VENDORS OPENCL_VENDOR_PATH OCL_ICD_FILENAMES; do
    if [[ -n ${!variable-} ]]; then
      say "$variable is set (${!variable}): installing no OpenCL runtime"
      return
    fi
  done
  home=$(data_home)/opencl
  if opencl_ready "$home"; then return; fi
  if [[ $(uname -s)-$(uname -m) != Linux-x86_64 ]]; then
    die "Intel's CPU runtime for OpenCL exists for Linux on x86-64 only" \
      "install an OpenCL runtime that loads SPIR-V, and set OCL_ICD_VENDORS to the folder of its .icd file"
  fi
  mkdir -p "$home"
  fetch_opencl "$home"
}

# translator_ready HOME: succeeds if exactly the pinned translator is installed.
translator_ready() {
  local marker=$1/$SETUP_TRANSLATOR_VERSION/installed
  [[ -f $marker && $(<"$marker") == "$SETUP_TRANSLATOR_WHEEL" ]]
}

# unpack_translator PYTHON WHEELS TARGET: unpacks the program and the library that it loads from the folder beside its
# own; the wheel's metadata, which name its licence, and licences that it may contain go to TARGET/licences.
unpack_translator() {
  "$1" - "$2" "$3" <<'PY'
import os, pathlib, shutil, sys, zipfile

wheels, target = map(pathlib.Path, sys.argv[1:])
(wheel,) = wheels.glob("dpcpp_llvm_spirv-*.whl")
unpacked = set()
with zipfile.ZipFile(wheel) as archive:
    for member in archive.infolist():
        path = pathlib.PurePosixPath(member.filename)
        if path.parent.name in ("bin", "lib") and not member.is_dir():
            folder = path.parent.name
        elif path.name == "METADATA" or path.name.upper().startswith(("LICENSE", "LICENCE", "NOTICE")):
            folder = "licences"
        else:
            continue
        unpacked.add(folder)
        (target / folder).mkdir(exist_ok=True)
        with archive.open(member) as source, open(target / folder / path.name, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
            os.fchmod(sink.fileno(), 0o644 if folder == "licences" else 0o755)
lost = {"bin", "lib"} - unpacked
if lost:
    sys.exit(f"error: {wheel.name} lacks {', '.join(sorted(lost))}")
PY
}

# fetch_translator HOME: downloads, unpacks and tries the translator in a folder beside the final one, then renames it.
# Fails with a message if it cannot. Callers test its status, so that `set -e` has no effect in it.
fetch_translator() (
  home=$1
  translator=$home/$SETUP_TRANSLATOR_VERSION
  exec 9>"$home/lock" || exit
  flock 9 || exit
  if translator_ready "$home"; then exit 0; fi # another run was faster
  rm -rf "$home"/unpacking.* # left by a killed run: only the holder of the lock may have one
  python=$(python_with_pip) || exit
  work=$(mktemp -d "$home/unpacking.XXXXXX") || exit
  trap 'rm -rf "$work"' EXIT
  say "installing llvm-spirv $SETUP_TRANSLATOR_VERSION to $translator"
  say "(13 MB to download, 38 MB on disk; under Intel's End User License Agreement for Developer Tools)"
  printf '%s\n' "$SETUP_TRANSLATOR_WHEEL" >"$work/requirements"
  mkdir "$work/wheels" "$work/new" || exit
  # The wheel is tagged for Python 3.11, but the program in it needs no Python at all.
  "$python" -m pip --no-input download --quiet --no-deps --no-cache-dir --only-binary=:all: --require-hashes \
    --implementation py --python-version 3.11 --platform manylinux2014_x86_64 --retries 5 \
    --disable-pip-version-check --dest "$work/wheels" --requirement "$work/requirements" </dev/null >&2 ||
    { say "the download of llvm-spirv failed: look at pip's messages above"; exit 1; }
  unpack_translator "$python" "$work/wheels" "$work/new" || { say "llvm-spirv could not be unpacked"; exit 1; }
  if lost=$(ldd "$work/new/bin/llvm-spirv" | grep 'not found'); then
    say "llvm-spirv does not load here: $lost"
    exit 1
  fi
  cp "$work/requirements" "$work/new/installed" || exit
  chmod -R u=rwX,go=rX "$work/new" || exit
  if [[ -e $translator ]]; then mv -T "$translator" "$work/old" || exit; fi
  mv -T "$work/new" "$translator"
)

# setup_translator: kassay can do without it, so failures end nothing.
setup_translator() {
  local home
  home=$(data_home)/llvm-spirv
  if translator_ready "$home"; then return; fi
  if [[ $(uname -s)-$(uname -m) != Linux-x86_64 ]] || ! mkdir -p "$home" || ! fetch_translator "$home"; then
    say "llvm-spirv $SETUP_TRANSLATOR_VERSION is not installed: kassay reads .spv kernels with llvm-spirv-15 instead"
  fi
}

setup_runtime() {
  setup_opencl
  setup_translator
}

setup_all() {
  setup_rust
  setup_packages
  setup_runtime
}
