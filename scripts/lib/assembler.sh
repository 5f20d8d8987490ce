# shellcheck shell=bash
# Installs NVIDIA's assembler ptxas, with which tests check PTX where there is no GPU. Sourced by scripts/test after
# setup.sh.

# The Python wheel that contains it.
readonly ASSEMBLER_VERSION=12.9.86
readonly ASSEMBLER_WHEEL="\
nvidia-cuda-nvcc-cu12==12.9.86 --hash=sha256:5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0"

# unpack_assembler PYTHON WHEELS TARGET: unpacks the program and its licence.
unpack_assembler() {
  "$1" - "$2" "$3" <<'PY'
import os, pathlib, shutil, sys, zipfile

wheels, target = map(pathlib.Path, sys.argv[1:])
(wheel,) = wheels.glob("nvidia_cuda_nvcc_cu12-*.whl")
wanted = {"nvidia/cuda_nvcc/bin/ptxas": "bin/ptxas"}
with zipfile.ZipFile(wheel) as archive:
    licences = [name for name in archive.namelist() if pathlib.PurePosixPath(name).name == "License.txt"]
    wanted.update({name: "licences/License.txt" for name in licences})
    for member, path in wanted.items():
        (target / path).parent.mkdir(exist_ok=True)
        with archive.open(member) as source, open(target / path, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
os.chmod(target / "bin/ptxas", 0o755)
PY
}

# setup_assembler: downloads, unpacks and tries it in a folder beside the final one, then renames it.
setup_assembler() (
  home=$(data_home)/ptxas
  assembler=$home/$ASSEMBLER_VERSION
  if [[ -x $assembler/bin/ptxas ]]; then exit 0; fi
  if [[ $(uname -s)-$(uname -m) != Linux-x86_64 ]]; then
    die "NVIDIA's assembler is not installed here: tests of PTX need Linux on x86-64"
  fi
  mkdir -p "$home"
  exec 9>"$home/lock"
  flock 9
  if [[ -x $assembler/bin/ptxas ]]; then exit 0; fi # another run was faster
  rm -rf "$home"/unpacking.* # left by a killed run: only the holder of the lock may have one
  python=$(python_with_pip)
  work=$(mktemp -d "$home/unpacking.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  say "installing NVIDIA's assembler ptxas $ASSEMBLER_VERSION to $assembler, for tests"
  say "(40 MB to download, 35 MB on disk; under NVIDIA's licence, which is put beside it)"
  printf '%s\n' "$ASSEMBLER_WHEEL" >"$work/requirements"
  mkdir "$work/wheels" "$work/new"
  "$python" -m pip --no-input download --quiet --no-deps --no-cache-dir --only-binary=:all: --require-hashes \
    --retries 5 --disable-pip-version-check --dest "$work/wheels" --requirement "$work/requirements" </dev/null >&2 ||
    die "the download of ptxas failed" "look at pip's messages above; then run this again"
  unpack_assembler "$python" "$work/wheels" "$work/new" || die "ptxas could not be unpacked"
  "$work/new/bin/ptxas" --version >/dev/null || die "ptxas does not run here"
  mv -T "$work/new" "$assembler"
)
