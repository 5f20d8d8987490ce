"""Runs one program's launches on a device, apart from who asks, because a driver may crash: a JSON file is the job.

Its result is one file: for each launch what `out` holds, then the images that were written. What kernels print goes where this
program prints.
"""

import ctypes
import json
import pathlib
import signal
import sys

from . import opencl


PR_SET_PDEATHSIG = 1


def main():
    # A driver that compiles for ever must not go on when it is no longer waited for.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    job = json.loads(pathlib.Path(sys.argv[1]).read_text())
    code, given = pathlib.Path(job["code"]).read_bytes(), pathlib.Path(job["given"]).read_bytes()
    text = code if code[:4] == b"\x03\x02\x23\x07" else code.decode()
    try:
        device = opencl.Device()
        program = device.program(text, job["options"])
        results = [device.run(program, "calls", arguments, given, job["size"], job["items"], job["group"])
                   for arguments in job["launches"]]
    except opencl.Failed as why:
        sys.exit(str(why))
    pathlib.Path(job["result"]).write_bytes(b"".join(results))


if __name__ == "__main__":
    main()
