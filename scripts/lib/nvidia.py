"""NVIDIA's own compiler and driver: kernels of CUDA as nvcc compiles them, launched from Python."""

import ctypes
import os
import pathlib
import re
import subprocess
import tempfile


class Gpu:
    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
        self.architecture = f"compute_{major.value}{minor.value}"

    def call(self, name, *args):
        status = getattr(self.driver, name)(*args)
        if status:
            raise RuntimeError(f"{name}: error {status} of CUDA's driver")

    def load(self, ptx):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx))
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def variable(self, module, name):
        at, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call("cuModuleGetGlobal_v2", ctypes.byref(at), ctypes.byref(size), module, name.encode())
        return at.value

    def buffer(self, data):
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(len(data), 1)))
        self.write(at.value, data)
        return at.value

    def write(self, at, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(at), ctypes.c_char_p(data), ctypes.c_size_t(len(data)))

    def read(self, at, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(at), ctypes.c_size_t(size))
        return data.raw

    def launch(self, function, grid, block, shared, args):
        cells = [ctypes.create_string_buffer(data, len(data)) for data in args]
        pointers = (ctypes.c_void_p * max(len(cells), 1))(*(ctypes.addressof(cell) for cell in cells))
        self.call("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)
        self.call("cuCtxSynchronize")


def compiled(source, architecture, names):
    """The PTX of a source, and the names of its kernels there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "kernel.cu"
        instances = [f"static auto *const nvcc_instance_{n} = &{name};\n" for n, name in enumerate(names) if "<" in name]
        copy.write_text(f'#include "{source.resolve()}"\n' + "".join(instances))
        ptx = pathlib.Path(folder) / "kernel.ptx"
        command = ["nvcc", "-std=c++17", f"-arch={architecture}", "--fmad=false", "-ptx", "-o", ptx, copy]
        # kassay's clang may have headers of its own there.
        environment = {key: value for key, value in os.environ.items() if key != "CPLUS_INCLUDE_PATH"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError("nvcc: " + (done.stderr + done.stdout).strip().splitlines()[0])
        text = ptx.read_text()
    mangled = re.findall(r"\.entry\s+(\w+)", text) + re.findall(r"\.(?:global|const)\s[^;{=\[]*?(\w+)\s*(?:\[\d*\])?\s*[;=]", text)
    shown = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True).stdout.splitlines()
    plain = {re.sub(r"\((?:unsigned )?(?:int|long|bool)\)", "", name).split("(")[0].removeprefix("void ").strip(): key for name, key in zip(shown, mangled)}
    return text.encode(), plain
