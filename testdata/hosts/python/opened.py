"""What the Python programs of this folder share. They end with 0, 1 (wrong) or 77 (skipped), like those in C."""

import sys

try:
    import numpy as np
    import pyopencl as cl
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def context_and_queue():
    """Opens the first device of the first platform that has one."""
    try:
        device = next(device for platform in cl.get_platforms() for device in platform.get_devices())
    except (cl.Error, StopIteration):
        print("skipped: no OpenCL device")
        sys.exit(77)
    context = cl.Context([device])
    return context, cl.CommandQueue(context)


def require(condition, what):
    """Ends the program with 1 unless the condition holds."""
    if not condition:
        print(f"wrong: {what}", file=sys.stderr)
        sys.exit(1)
