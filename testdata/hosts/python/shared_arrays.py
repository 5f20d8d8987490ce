"""Shared virtual memory with pyopencl: NumPy arrays in SVM allocations.

Kernels: exchange, 3 launches.
Special: no buffer; the host reads and writes in maps; the same array is both arguments once.
"""

from opened import cl, context_and_queue, np, require

SOURCE = """
kernel void exchange(global long *a, global long *b)
{
    size_t i = get_global_id(0);
    long mine = a[i], other = b[i];
    a[i] = other + 1;
    b[i] = mine - 1;
}
"""

context, queue = context_and_queue()
if not queue.device.svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
    print("skipped: the device has no shared virtual memory")
    raise SystemExit(77)
exchange = cl.Kernel(cl.Program(context, SOURCE).build("-cl-std=CL2.0"), "exchange")
a, b = (cl.SVM(cl.csvm_empty(context, 500, np.int64)) for _ in range(2))
expected_a, expected_b = np.arange(500), np.arange(500) ** 2
for svm, values in ((a, expected_a), (b, expected_b)):
    with svm.map_rw(queue) as mapped:
        mapped[:] = values
for _ in range(2):
    exchange(queue, (500,), None, a, b)
    expected_a, expected_b = expected_b + 1, expected_a - 1
exchange(queue, (500,), (50,), a, a)
expected_a = expected_a - 1  # the second store of each work-item stands
for svm, values in ((a, expected_a), (b, expected_b)):
    with svm.map_ro(queue) as mapped:
        require((mapped == values).all(), "exchange")
print("shared_arrays: right")
