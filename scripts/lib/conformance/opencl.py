"""The few calls of OpenCL that running a kernel from source or SPIR-V takes, through the system's loader."""

import ctypes as c

CPU_OR_ANY = 0xFFFFFFFF
BUILD_LOG = 0x1183


class Failed(Exception):
    """A call failed; the text says which, with which code, and what the compiler said."""


def loader():
    cl = c.CDLL("libOpenCL.so.1")
    pointer, size, code = c.c_void_p, c.c_size_t, c.POINTER(c.c_int)
    signatures = {
        "clGetPlatformIDs": (c.c_int, [c.c_uint, pointer, pointer]),
        "clGetDeviceIDs": (c.c_int, [pointer, c.c_uint64, c.c_uint, pointer, pointer]),
        "clGetDeviceInfo": (c.c_int, [pointer, c.c_uint, size, pointer, pointer]),
        "clCreateContext": (pointer, [pointer, c.c_uint, pointer, pointer, pointer, code]),
        "clCreateCommandQueue": (pointer, [pointer, pointer, c.c_uint64, code]),
        "clCreateProgramWithSource": (pointer, [pointer, c.c_uint, pointer, pointer, code]),
        "clCreateProgramWithIL": (pointer, [pointer, pointer, size, code]),
        "clBuildProgram": (c.c_int, [pointer, c.c_uint, pointer, c.c_char_p, pointer, pointer]),
        "clGetProgramBuildInfo": (c.c_int, [pointer, pointer, c.c_uint, size, pointer, pointer]),
        "clCreateKernel": (pointer, [pointer, c.c_char_p, code]),
        "clCreateBuffer": (pointer, [pointer, c.c_uint64, size, pointer, code]),
        "clSetKernelArg": (c.c_int, [pointer, c.c_uint, size, pointer]),
        "clEnqueueNDRangeKernel": (c.c_int, [pointer, pointer, c.c_uint] + [pointer] * 3 + [c.c_uint, pointer, pointer]),
        "clEnqueueReadBuffer": (c.c_int, [pointer, pointer, c.c_uint, size, size, pointer, c.c_uint, pointer, pointer]),
        "clReleaseMemObject": (c.c_int, [pointer]),
        "clReleaseKernel": (c.c_int, [pointer]),
        "clReleaseProgram": (c.c_int, [pointer]),
    }
    for name, (result, parameters) in signatures.items():
        function = getattr(cl, name)
        function.restype, function.argtypes = result, parameters
    return cl


class Device:
    """A device of a platform, by their numbers."""

    def __init__(self, platform=0, device=0):
        self.cl = loader()
        platforms = (c.c_void_p * 16)()
        count = c.c_uint()
        self.check("clGetPlatformIDs", self.cl.clGetPlatformIDs(16, platforms, c.byref(count)))
        devices = (c.c_void_p * 16)()
        self.check("clGetDeviceIDs", self.cl.clGetDeviceIDs(platforms[platform], CPU_OR_ANY, 16, devices, c.byref(count)))
        self.device = c.c_void_p(devices[device])
        self.context = self.made("clCreateContext", None, 1, c.byref(self.device), None, None)
        self.queue = self.made("clCreateCommandQueue", self.context, self.device, 0)

    @staticmethod
    def check(what, code):
        if code != 0:
            raise Failed(f"{what}: {code}")

    def made(self, name, *arguments):
        code = c.c_int()
        made = getattr(self.cl, name)(*arguments, c.byref(code))
        self.check(name, code.value)
        return c.c_void_p(made)

    def info(self, number):
        text = c.create_string_buffer(1 << 16)
        self.check("clGetDeviceInfo", self.cl.clGetDeviceInfo(self.device, number, len(text), text, None))
        return text.value.decode()

    @property
    def name(self):
        return f"{self.info(0x102B)}, {self.info(0x102D)}"

    @property
    def extensions(self):
        return set(self.info(0x1030).split())

    def program(self, code, options):
        """Builds source (a text) or SPIR-V (bytes)."""
        if isinstance(code, str):
            text = c.c_char_p(code.encode())
            program = self.made("clCreateProgramWithSource", self.context, 1, c.byref(text), None)
        else:
            program = self.made("clCreateProgramWithIL", self.context, code, len(code))
        built = self.cl.clBuildProgram(program, 1, c.byref(self.device), options.encode(), None, None)
        if built != 0:
            log = c.create_string_buffer(1 << 16)
            self.cl.clGetProgramBuildInfo(program, self.device, BUILD_LOG, len(log), log, None)
            raise Failed(f"clBuildProgram: {built}: {log.value.decode(errors='replace').strip()}")
        return program

    def run(self, code, options, kernel, given, size, items, group):
        """Runs a kernel of two buffers, of which it reads the second. Returns the bytes of the first, zeros before."""
        program = self.program(code, options)
        made = self.made("clCreateKernel", program, kernel.encode())
        use_host, copy_host = 0, 1 << 5
        out = self.made("clCreateBuffer", self.context, (1 << 0) | copy_host, size, bytes(size))
        read = self.made("clCreateBuffer", self.context, (1 << 2) | copy_host | use_host, len(given), given)
        for position, buffer in enumerate((out, read)):
            self.check("clSetKernelArg", self.cl.clSetKernelArg(made, position, 8, c.byref(buffer)))
        sizes = [c.byref(c.c_size_t(n)) for n in (items, group)]
        self.check("clEnqueueNDRangeKernel", self.cl.clEnqueueNDRangeKernel(self.queue, made, 1, None, *sizes, 0, None, None))
        result = c.create_string_buffer(size)
        self.check("clEnqueueReadBuffer", self.cl.clEnqueueReadBuffer(self.queue, out, 1, 0, size, result, 0, None, None))
        for buffer in (out, read):
            self.cl.clReleaseMemObject(buffer)
        self.cl.clReleaseKernel(made)
        self.cl.clReleaseProgram(program)
        return result.raw


if __name__ == "__main__":
    # Runs one program, apart from who asks, because a driver may crash: options, kernel, items and group are given, the code and
    # the bytes that it reads are files, and the result becomes one.
    import sys

    code_file, given_file, out_file, options, kernel, size, items, group = sys.argv[1:]
    with open(code_file, "rb") as file:
        code = file.read()
    with open(given_file, "rb") as file:
        given = file.read()
    text = code if code[:4] == b"\x03\x02\x23\x07" else code.decode()
    try:
        result = Device().run(text, options, kernel, given, int(size), int(items), int(group))
    except Failed as why:
        sys.exit(str(why))
    with open(out_file, "wb") as file:
        file.write(result)
