"""An OpenCL host program that launches a kernel which `kassay lower` wove probes, mutants or guards into, and writes the
probe buffer to a file. It uses nothing of kassay: only the OpenCL loader, libOpenCL.so.1, through ctypes.

    python3 host.py MODULE KERNEL RANGE[,RANGE...] PREFIX ARGUMENT...

The command line, the environment variables and the output are those of host.c. The parts marked with "probe:" are all
that kassay adds to a host program.
"""

import ctypes
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


def probe_contents(arguments):
    """probe: returns the words of the buffer before a launch. All are 0 but these."""
    mutant, count = os.environ.get("MUTANT"), len(arguments)
    if mutant is None:
        # For coverage, any length does.
        words = [0] * int(os.environ.get("PROBE_WORDS", 4096))
        words[7] = len(words)
        return words
    words = [0] * (16 + 4 * count + 8)
    words[0] = int(os.environ.get("FUEL", 1000000))
    for position, (kind, value) in enumerate(arguments):
        if kind != "value":
            size = value if kind == "local" else len(value)
            words[16 + 4 * position : 16 + 4 * position + 2] = [size % 2**32, size >> 32]
    words[16 + 4 * count] = int(mutant)
    return words


def probe_result(probe, count, path, launch):
    """probe: keeps what a launch left in the buffer."""
    with open(path, "wb") as file:
        file.write(probe)
    if "MUTANT" in os.environ:
        (fault,) = struct.unpack_from("<I", probe, 4 * (16 + 4 * count + 2))
        if fault:
            print(f"launch {launch} fault kind {fault & 0xFF} place {fault >> 8}")


def main():
    if len(sys.argv) < 5:
        sys.exit("usage: host.py MODULE KERNEL RANGE[,RANGE...] PREFIX ARGUMENT...")
    path, name, ranges, prefix = sys.argv[1:5]
    arguments = [argument(text) for text in sys.argv[5:]]
    with open(path, "rb") as file:
        module = file.read()

    chosen = device()
    context = create("Context", None, 1, byref(chosen), None, None)
    queue = create("CommandQueue", context, chosen, c_uint64(0))
    program = create("ProgramWithIL", context, module, c_size_t(len(module)))
    options = os.environ.get("BUILD_OPTIONS", "").encode()
    code = cl.clBuildProgram(program, 1, byref(chosen), c_char_p(options), None, None)
    if code != 0:
        log = ctypes.create_string_buffer(1 << 16)
        cl.clGetProgramBuildInfo(program, chosen, PROGRAM_BUILD_LOG, c_size_t(len(log)), log, None)
        print(log.value.decode(errors="replace"), file=sys.stderr)
    check(code, "clBuildProgram")
    kernel = create("Kernel", program, name.encode())
    parameters = c_uint32()
    check(cl.clGetKernelInfo(kernel, KERNEL_NUM_ARGS, c_size_t(4), byref(parameters), None), "clGetKernelInfo")
    if parameters.value != len(arguments) + 1:
        sys.exit(f"host: {name} takes {parameters.value - 1} arguments and the probe buffer, not {len(arguments)}")

    def buffer(data):
        return create("Buffer", context, c_uint64(READ_WRITE_COPY), c_size_t(len(data)), data)

    def read(source, size):
        data = ctypes.create_string_buffer(size)
        code = cl.clEnqueueReadBuffer(queue, source, 1, c_size_t(0), c_size_t(size), data, 0, None, None)
        check(code, "clEnqueueReadBuffer")
        cl.clReleaseMemObject(source)
        return data.raw

    for launch, text in enumerate(ranges.split(",")):
        sizes = [[int(size) for size in part.split("x")] for part in text.split("/")]
        sizes = [(c_size_t * len(part))(*part) for part in sizes]
        buffers = {}
        for position, (kind, value) in enumerate(arguments):
            if kind == "buffer":
                buffers[position] = buffer(value)
                code = cl.clSetKernelArg(kernel, position, c_size_t(8), byref(buffers[position]))
            elif kind == "local":
                code = cl.clSetKernelArg(kernel, position, c_size_t(value), None)
            else:
                code = cl.clSetKernelArg(kernel, position, c_size_t(len(value)), value)
            check(code, "clSetKernelArg")

        # probe: the last argument.
        words = probe_contents(arguments)
        probe = buffer(struct.pack(f"<{len(words)}I", *words))
        check(cl.clSetKernelArg(kernel, len(arguments), c_size_t(8), byref(probe)), "clSetKernelArg")

        local = sizes[1] if len(sizes) > 1 else None
        code = cl.clEnqueueNDRangeKernel(queue, kernel, len(sizes[0]), None, sizes[0], local, 0, None, None)
        check(code, "clEnqueueNDRangeKernel")

        # probe: read it back and keep it.
        probe_result(read(probe, 4 * len(words)), len(arguments), f"{prefix}.{launch}.bin", launch)

        for position in buffers:
            left = read(buffers[position], len(arguments[position][1]))
            print(f"launch {launch} argument {position} {fnv1a(left):016x}")


if __name__ == "__main__":
    main()
