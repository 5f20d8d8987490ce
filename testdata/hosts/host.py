"""An OpenCL host program that launches a kernel which `kassay lower` wove probes, mutants or guards into, and writes the
probe buffer to a file. It uses nothing of kassay: only the OpenCL loader, libOpenCL.so.1, through ctypes.

    python3 host.py MODULE KERNEL RANGE[,RANGE...] PREFIX ARGUMENT...

The command line, the environment variables and the output are those of host.c, but for MUTANTS and REACH: instead of
these, MODULE may be the map of modules with mutants, a .json file. Then the launches, which are a test named PREFIX, are
run under each mutant, and PREFIX.outcomes is written. The parts marked with "probe:" are all that kassay adds to a host
program.
"""

import ctypes
import json
import os
import struct
import sys
from ctypes import byref, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

READ_WRITE_COPY = 1 | 32  # CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR
DEVICE_TYPE_ALL = 0xFFFFFFFF
DEVICE_IL_VERSION = 0x105B
PROGRAM_BUILD_LOG = 0x1183
KERNEL_NUM_ARGS = 0x1191

cl = ctypes.CDLL("libOpenCL.so.1")
for creator in ("Context", "CommandQueue", "ProgramWithIL", "Kernel", "Buffer"):
    getattr(cl, f"clCreate{creator}").restype = c_void_p


def check(code, what):
    if code != 0:
        sys.exit(f"host: {what} fails with {code}")


def create(what, *arguments):
    code = c_int32()
    created = getattr(cl, f"clCreate{what}")(*arguments, byref(code))
    check(code.value, f"clCreate{what}")
    return c_void_p(created)


def argument(text):
    """Returns the kind of an argument, and its bytes or (of local memory) its size."""
    kind, _, value = text.partition("=")
    if kind in ("int", "uint", "float"):
        return "value", struct.pack({"int": "i", "uint": "I", "float": "f"}[kind], (float if kind == "float" else int)(value))
    if kind in ("ints", "floats"):
        start, step, count = value.split(",")
        number = float if kind == "floats" else int
        numbers = [number(start) + number(step) * i for i in range(int(count))]
        return "buffer", struct.pack(f"{len(numbers)}{'f' if kind == 'floats' else 'i'}", *numbers)
    if kind == "local":
        return "local", int(value)
    sys.exit(f"host: what is the argument {text}?")


def device():
    """Returns the first device that takes SPIR-V."""
    platforms, count = (c_void_p * 16)(), c_uint32()
    check(cl.clGetPlatformIDs(16, platforms, byref(count)), "clGetPlatformIDs")
    for platform in platforms[: count.value]:
        devices = (c_void_p * 16)()
        if cl.clGetDeviceIDs(c_void_p(platform), c_uint64(DEVICE_TYPE_ALL), 16, devices, byref(count)) != 0:
            continue
        for candidate in devices[: count.value]:
            versions = ctypes.create_string_buffer(256)
            code = cl.clGetDeviceInfo(c_void_p(candidate), DEVICE_IL_VERSION, c_size_t(256), versions, None)
            if code == 0 and b"SPIR-V" in versions.value:
                return c_void_p(candidate)
    sys.exit("host: no device that takes SPIR-V")


def fnv1a(data):
    """Hashes bytes, to compare the outputs of runs."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def select_mutant(arguments, mutant, fuel):
    """probe: returns the words of the buffer for mutants and guards before a launch. All are 0 but these."""
    words = [0] * (16 + 4 * len(arguments) + 8)
    words[0] = fuel
    for position, (kind, value) in enumerate(arguments):
        if kind != "value":
            size = value if kind == "local" else len(value)
            words[16 + 4 * position : 16 + 4 * position + 2] = [size % 2**32, size >> 32]
    words[16 + 4 * len(arguments)] = mutant
    return words


def probe_contents(arguments):
    """probe: returns the words of the buffer before a launch."""
    if "MUTANT" in os.environ:
        return select_mutant(arguments, int(os.environ["MUTANT"]), int(os.environ.get("FUEL", 1000000)))
    # For coverage, any length does.
    words = [0] * int(os.environ.get("PROBE_WORDS", 4096))
    words[7] = len(words)
    return words


def probe_result(probe, count, path, launch):
    """probe: keeps what a launch left in the buffer."""
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(probe)}I", *probe))
    if "MUTANT" in os.environ:
        fault = probe[16 + 4 * count + 2]
        if fault:
            print(f"launch {launch} fault kind {fault & 0xFF} place {fault >> 8}")


class Session:
    """The first device that takes SPIR-V, with a queue."""

    def __init__(self):
        self.device = device()
        self.context = create("Context", None, 1, byref(self.device), None, None)
        self.queue = create("CommandQueue", self.context, self.device, c_uint64(0))

    def kernel(self, path, name, options):
        """Loads a module and returns its kernel and the hash of the file."""
        with open(path, "rb") as file:
            module = file.read()
        program = create("ProgramWithIL", self.context, module, c_size_t(len(module)))
        code = cl.clBuildProgram(program, 1, byref(self.device), c_char_p(options.encode()), None, None)
        if code != 0:
            log = ctypes.create_string_buffer(1 << 16)
            cl.clGetProgramBuildInfo(program, self.device, PROGRAM_BUILD_LOG, c_size_t(len(log)), log, None)
            print(log.value.decode(errors="replace"), file=sys.stderr)
        check(code, "clBuildProgram")
        return create("Kernel", program, name.encode()), f"{fnv1a(module):016x}"

    def buffer(self, data):
        return create("Buffer", self.context, c_uint64(READ_WRITE_COPY), c_size_t(len(data)), data)

    def read(self, source, size):
        data = ctypes.create_string_buffer(size)
        code = cl.clEnqueueReadBuffer(self.queue, source, 1, c_size_t(0), c_size_t(size), data, 0, None, None)
        check(code, "clEnqueueReadBuffer")
        cl.clReleaseMemObject(source)
        return data.raw

    def launches(self, kernel, ranges, arguments, words):
        """Makes the launches of a test, each with `words` in the probe buffer. Yields for each what is in that buffer
        then, and what is in the others, by position."""
        for text in ranges.split(","):
            sizes = [[int(size) for size in part.split("x")] for part in text.split("/")]
            sizes = [(c_size_t * len(part))(*part) for part in sizes]
            buffers = {}
            for position, (kind, value) in enumerate(arguments):
                if kind == "buffer":
                    buffers[position] = self.buffer(value)
                    code = cl.clSetKernelArg(kernel, position, c_size_t(8), byref(buffers[position]))
                elif kind == "local":
                    code = cl.clSetKernelArg(kernel, position, c_size_t(value), None)
                else:
                    code = cl.clSetKernelArg(kernel, position, c_size_t(len(value)), value)
                check(code, "clSetKernelArg")

            # probe: the last argument.
            if words:
                probe = self.buffer(struct.pack(f"<{len(words)}I", *words))
                check(cl.clSetKernelArg(kernel, len(arguments), c_size_t(8), byref(probe)), "clSetKernelArg")

            local = sizes[1] if len(sizes) > 1 else None
            code = cl.clEnqueueNDRangeKernel(self.queue, kernel, len(sizes[0]), None, sizes[0], local, 0, None, None)
            check(code, "clEnqueueNDRangeKernel")

            # probe: read it back.
            left = struct.unpack(f"<{len(words)}I", self.read(probe, 4 * len(words))) if words else ()
            yield left, {p: self.read(source, len(arguments[p][1])) for p, source in buffers.items()}


def run_mutants(session, map_file, name, ranges, test, arguments):
    """probe: runs a test under all mutants of a map's modules and writes a file of outcomes."""
    with open(map_file, encoding="utf-8") as file:
        probe_map = json.load(file)
    guards = probe_map["guards"]
    largest = 2**31 - 1
    with open(f"{test}.outcomes", "w", encoding="utf-8") as file:
        print("kassay-outcomes 1", file=file)
        for number, module in enumerate(probe_map["modules"]):
            infected = set()
            if "reach" in module:
                # Which mutants does the test reach?
                reach = module["reach"]
                kernel, identity = session.kernel(reach["file"], name, reach["build_options"])
                seen = [0] * reach["length"]
                for left, _ in session.launches(kernel, ranges, arguments, list(seen)):
                    seen = [a | b for a, b in zip(seen, left)]
                print("module", identity, file=file)
                print("reach", "".join(f"{word:08x}" for word in seen[16:]), test, file=file)
                # The second of a mutant's two bits says whether it has to run.
                infected = {n + 1 for n in range(module["mutants"]) if seen[16 + n // 16] >> n % 16 * 2 & 2}

            kernel, identity = session.kernel(module["file"], name, module["build_options"])
            print("module", identity, file=file)

            def ran(mutant, fuel):
                launches = list(session.launches(kernel, ranges, arguments, select_mutant(arguments, mutant, fuel)))
                faults = [left[guards["fault"]] for left, _ in launches if left[guards["fault"]]]
                used = max(left[guards["fuel_used"]] for left, _ in launches)
                return [outputs for _, outputs in launches], faults[0] if faults else 0, used

            reference, _, used = ran(0, largest)
            fuel = min(10 * used + 1000, largest)
            mutants = [m for m in probe_map.get("mutants", []) if m["module"] == number]
            wanted = [m["number"] for m in mutants if "duplicate_of" not in m and "equivalent" not in m]
            for mutant in [0] + [n for n in wanted if n in infected]:
                for _ in range(int(os.environ.get("REPEATS", 1))):
                    outputs, fault, _ = ran(mutant, largest if mutant == 0 else fuel)
                    result = "same" if outputs == reference else "different"
                    print(mutant, result, fault, test, file=file)


def main():
    if len(sys.argv) < 5:
        sys.exit("usage: host.py MODULE KERNEL RANGE[,RANGE...] PREFIX ARGUMENT...")
    path, name, ranges, prefix = sys.argv[1:5]
    arguments = [argument(text) for text in sys.argv[5:]]
    session = Session()
    if path.endswith(".json"):
        run_mutants(session, path, name, ranges, prefix, arguments)
        return

    kernel, _ = session.kernel(path, name, os.environ.get("BUILD_OPTIONS", ""))
    parameters = c_uint32()
    check(cl.clGetKernelInfo(kernel, KERNEL_NUM_ARGS, c_size_t(4), byref(parameters), None), "clGetKernelInfo")
    if parameters.value not in (len(arguments), len(arguments) + 1):
        sys.exit(f"host: {name} takes {parameters.value - 1} arguments and the probe buffer, not {len(arguments)}")
    has_probe = parameters.value == len(arguments) + 1
    launches = session.launches(kernel, ranges, arguments, probe_contents(arguments) if has_probe else [])
    for launch, (probe, outputs) in enumerate(launches):
        # probe: keep it.
        if has_probe:
            probe_result(probe, len(arguments), f"{prefix}.{launch}.bin", launch)
        for position, data in outputs.items():
            print(f"launch {launch} argument {position} {fnv1a(data):016x}")


if __name__ == "__main__":
    main()
