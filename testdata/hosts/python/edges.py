"""Edges in a picture: images and samplers with pyopencl.

Kernels: sobel, 2 launches, one with an address mode of the sampler that differs.
Special: a float image with one channel made from an array, a local size of two dimensions, results by enqueue_map_image.
"""

from opened import cl, context_and_queue, np, require

SOURCE = """
kernel void sobel(read_only image2d_t from, sampler_t at_edges, write_only image2d_t to)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float across = 0, down = 0;
    for (int k = -1; k <= 1; k++) {
        float weight = k == 0 ? 2 : 1;
        across += weight * (read_imagef(from, at_edges, p + (int2)(1, k)).x - read_imagef(from, at_edges, p + (int2)(-1, k)).x);
        down += weight * (read_imagef(from, at_edges, p + (int2)(k, 1)).x - read_imagef(from, at_edges, p + (int2)(k, -1)).x);
    }
    write_imagef(to, p, (float4)(fabs(across) + fabs(down)));
}
"""

context, queue = context_and_queue()
if not queue.device.image_support:
    print("skipped: the device has no images")
    raise SystemExit(77)
sobel = cl.Kernel(cl.Program(context, SOURCE).build(["-cl-std=CL1.2"]), "sobel")
height, width = 40, 56
picture = np.add.outer(np.arange(height) ** 2 % 37, np.arange(width) * 3 % 29).astype(np.float32)
form = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
flags = cl.mem_flags
source = cl.create_image(context, flags.READ_ONLY | flags.COPY_HOST_PTR, form, shape=(width, height), hostbuf=picture)
target = cl.create_image(context, flags.WRITE_ONLY, form, shape=(width, height))
for mode, padding in ((cl.addressing_mode.CLAMP_TO_EDGE, "edge"), (cl.addressing_mode.CLAMP, "constant")):
    sampler = cl.Sampler(context, False, mode, cl.filter_mode.NEAREST)
    sobel(queue, (width, height), (8, 4), source, sampler, target)
    mapped = cl.enqueue_map_image(queue, target, cl.map_flags.READ, (0, 0), (width, height), (height, width), np.float32)[0]
    found = mapped.copy()
    mapped.base.release(queue)
    wide = np.pad(picture, 1, mode=padding)
    across = sum(w * (wide[1 + k:1 + k + height, 2:] - wide[1 + k:1 + k + height, :-2]) for k, w in ((-1, 1), (0, 2), (1, 1)))
    down = sum(w * (wide[2:, 1 + k:1 + k + width] - wide[:-2, 1 + k:1 + k + width]) for k, w in ((-1, 1), (0, 2), (1, 1)))
    expected = np.abs(across) + np.abs(down)
    require(np.allclose(found, expected, atol=1e-3), f"sobel with {padding} at the edges")
print("edges: right")
