"""The few calls of OpenCL that running a kernel from source or SPIR-V takes, through the system's loader."""

import ctypes as c

from . import arguments, images

CPU_OR_ANY = 0xFFFFFFFF
BUILD_LOG = 0x1183


READ_WRITE, READ_ONLY, USE_HOST, COPY_HOST, KERNEL_READ_AND_WRITE = 1 << 0, 1 << 2, 1 << 3, 1 << 5, 1 << 12
IMAGE1D_BUFFER = "image1d_buffer_t"
NUMBERS = {"char": c.c_int8, "uchar": c.c_uint8, "short": c.c_int16, "ushort": c.c_uint16, "int": c.c_int32, "uint": c.c_uint32,
           "long": c.c_int64, "ulong": c.c_uint64, "float": c.c_float, "double": c.c_double}


class ImageFormat(c.Structure):
    _fields_ = [("order", c.c_uint), ("type", c.c_uint)]


class ImageDescription(c.Structure):
    _fields_ = [("kind", c.c_uint), *((name, c.c_size_t) for name in ("width", "height", "depth", "layers", "row", "slice")),
                ("levels", c.c_uint), ("samples", c.c_uint), ("buffer", c.c_void_p)]


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
        "clGetSupportedImageFormats": (c.c_int, [pointer, c.c_uint64, c.c_uint, c.c_uint, pointer, pointer]),
        "clCreateImage": (pointer, [pointer, c.c_uint64, pointer, pointer, pointer, code]),
        "clCreateSampler": (pointer, [pointer, c.c_uint, c.c_uint, c.c_uint, code]),
        "clEnqueueReadImage": (c.c_int, [pointer, pointer, c.c_uint, pointer, pointer, size, size, pointer, c.c_uint, pointer,
                                         pointer]),
        "clReleaseMemObject": (c.c_int, [pointer]),
        "clFinish": (c.c_int, [pointer]),
        "clReleaseKernel": (c.c_int, [pointer]),
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

    def image_formats(self, kind, access):
        """Formats of images of a kind (`image2d_t`) that kernels may access so (`read_only`)."""
        flags = {"read_only": READ_ONLY, "write_only": 1 << 1, "read_write": KERNEL_READ_AND_WRITE}[access]
        formats, count = (ImageFormat * 512)(), c.c_uint()
        self.check("clGetSupportedImageFormats", self.cl.clGetSupportedImageFormats(
            self.context, flags, images.KINDS[kind], len(formats), formats, c.byref(count)))
        known = (images.known((form.order, form.type)) for form in formats[:count.value])
        return [form for form in known if form]

    def buffer(self, flags, data):
        return self.made("clCreateBuffer", self.context, flags | COPY_HOST, len(data), data)

    def image(self, argument):
        """Makes an image; for one that lies in a buffer, returns that, too."""
        data, shape = bytes.fromhex(argument["data"]), argument["shape"]
        layered = "array" in argument["type"]
        width, height, depth = [*shape, 0, 0][:3]
        sizes = (width, 0 if layered and len(shape) == 2 else height, 0 if layered else depth, shape[-1] if layered else 0)
        below = self.buffer(READ_WRITE, data) if argument["type"] == IMAGE1D_BUFFER else None
        described = ImageDescription(images.KINDS[argument["type"]], *sizes, 0, 0, 0, 0, below)
        form = ImageFormat(*arguments.form(argument).numbers)
        flags = {"read_only": READ_ONLY, "write_only": READ_WRITE, "read_write": READ_WRITE}[argument["access"]]
        made = self.made("clCreateImage", self.context, flags | (0 if below else COPY_HOST), c.byref(form), c.byref(described),
                         None if below else data)
        return made, below

    def read_buffer(self, buffer, size):
        result = c.create_string_buffer(size)
        self.check("clEnqueueReadBuffer", self.cl.clEnqueueReadBuffer(self.queue, buffer, 1, 0, size, result, 0, None, None))
        return result.raw

    def read_image(self, image, below, argument):
        if below:
            return self.read_buffer(below, len(argument["data"]) // 2)
        region = (c.c_size_t * 3)(*[*argument["shape"], 1, 1][:3])
        result = c.create_string_buffer(len(argument["data"]) // 2)
        self.check("clEnqueueReadImage", self.cl.clEnqueueReadImage(
            self.queue, image, 1, (c.c_size_t * 3)(), region, 0, 0, result, 0, None, None))
        return result.raw

    def set(self, kernel, position, argument, given, size):
        """Gives an argument to a kernel. Returns the memory objects made, and what reads the result, if it has one."""
        kind, objects, read = argument["kind"], [], None
        if kind == "out":
            objects = [self.buffer(READ_WRITE, bytes(size))]
            read = lambda: self.read_buffer(objects[0], size)  # noqa: E731
        elif kind == "in":
            objects = [self.buffer(READ_ONLY, given)]
        elif kind == "image":
            image, below = self.image(argument)
            objects = [image, below] if below else [image]
            if arguments.written(argument):
                read = lambda: self.read_image(image, below, argument)  # noqa: E731
        if kind == "local":
            length, value = argument["bytes"], None
        elif kind == "value":
            number = NUMBERS[argument["type"]](argument["value"])
            length, value = c.sizeof(number), c.byref(number)
        elif kind == "sampler":
            modes = images.ADDRESSING[argument["addressing"]], images.FILTERS[argument["filter"]]
            sampler = self.made("clCreateSampler", self.context, int(argument["normalized"]), *modes)
            length, value = 8, c.byref(sampler)
        else:
            length, value = 8, c.byref(objects[0])
        self.check(f"clSetKernelArg {position}", self.cl.clSetKernelArg(kernel, position, length, value))
        return objects, read

    def run(self, program, kernel, listed, given, size, items, group):
        """Launches a kernel. Returns the bytes of `out`, zeros before, and of each image that it writes."""
        made = self.made("clCreateKernel", program, kernel.encode())
        objects, reads = [], []
        for position, argument in enumerate(listed):
            own, read = self.set(made, position, argument, given, size)
            objects += own
            reads += [read] if read else []
        sizes = [(c.c_size_t * len(numbers))(*numbers) for numbers in (items, group)]
        launched = self.cl.clEnqueueNDRangeKernel(self.queue, made, len(items), None, *sizes, 0, None, None)
        self.check("clEnqueueNDRangeKernel", launched)
        self.check("clFinish", self.cl.clFinish(self.queue))
        results = [read() for read in reads]
        for buffer in objects:
            self.cl.clReleaseMemObject(buffer)
        self.cl.clReleaseKernel(made)
        return b"".join(results)
