"""Histogram and contrast of pictures, with pyopencl and a kernel file beside the program.

Kernels (histogram.cl): histogram, 4 launches; stretch, 3 launches.
Special: pyopencl's own loader; local memory and NumPy scalars as arguments; sizes that no work-group divides; the second picture is
flat (low equals high), the third has one pixel. Whether pyopencl keeps binaries is up to its cache: a second run may show no source.
"""

import pathlib

from opened import cl, context_and_queue, np, require

context, queue = context_and_queue()
program = cl.Program(context, pathlib.Path("histogram.cl").read_text(encoding="utf-8")).build()
histogram, stretch = cl.Kernel(program, "histogram"), cl.Kernel(program, "stretch")
flags = cl.mem_flags


def bins_of(picture, on_device):
    bins = cl.Buffer(context, flags.READ_WRITE, 256 * 4)
    cl.enqueue_fill_buffer(queue, bins, np.uint32(0), 0, 256 * 4)
    histogram(queue, (256,), (64,), on_device, np.uint32(picture.size), bins, cl.LocalMemory(256 * 4))
    counted = np.empty(256, np.uint32)
    cl.enqueue_copy(queue, counted, bins)
    require((counted == np.bincount(picture, minlength=256)).all(), "histogram")
    return counted


random = np.random.default_rng(5)
pictures = [random.integers(40, 180, 5000, dtype=np.uint8), np.full(777, 9, np.uint8), np.array([200], np.uint8)]
for number, picture in enumerate(pictures):
    on_device = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=picture)
    used = np.flatnonzero(bins_of(picture, on_device))
    low, high = int(used[0]), int(used[-1])
    stretch(queue, picture.shape, None, on_device, np.uint32(low), np.uint32(high))
    stretched = np.empty_like(picture)
    cl.enqueue_copy(queue, stretched, on_device)
    expected = ((picture.astype(int) - low) * 255 // (high - low)).astype(np.uint8) if high > low else picture
    require((stretched == expected).all(), f"stretch of picture {number}")
    if number == 0:
        bins_of(stretched, on_device)
print("histogram: right")
