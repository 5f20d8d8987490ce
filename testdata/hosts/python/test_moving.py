"""A test suite as people have them, run by `python -m unittest`: its exit code is the verdict.

Kernels: moving_sum, 5 launches (2 + 1 + 2 of three tests); clip, 3 launches (of one test).
Special: every test builds the program anew. The tests of clip are weak on purpose: no value lies on a limit, and none of the results
below the lower limit is looked at, so mutants of clip survive that those of moving_sum do not.
"""

import unittest

from opened import cl, context_and_queue, np

SOURCE = """
kernel void moving_sum(global const int *x, global int *sums, int count, int reach)
{
    int i = get_global_id(0), sum = 0;
    if (i >= count)
        return;
    for (int k = max(i - reach, 0); k <= min(i + reach, count - 1); k++)
        sum += x[k];
    sums[i] = sum;
}

kernel void clip(global int *x, int low, int high)
{
    size_t i = get_global_id(0);
    if (x[i] < low)
        x[i] = low;
    else if (x[i] > high)
        x[i] = high;
}
"""


class Kernels(unittest.TestCase):
    def setUp(self):
        self.context, self.queue = context_and_queue()
        self.program = cl.Program(self.context, SOURCE).build()

    def buffer(self, data):
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=data)

    def sums(self, x, reach, size):
        x = np.asarray(x, np.int32)
        source, target = self.buffer(x), self.buffer(np.full(size, -1, np.int32))
        cl.Kernel(self.program, "moving_sum")(self.queue, (size,), None, source, target, np.int32(len(x)), np.int32(reach))
        result = np.empty(size, np.int32)
        cl.enqueue_copy(self.queue, result, target)
        return result.tolist()

    def clipped(self, x, low, high):
        data = np.asarray(x, np.int32)
        target = self.buffer(data)
        cl.Kernel(self.program, "clip")(self.queue, data.shape, None, target, np.int32(low), np.int32(high))
        cl.enqueue_copy(self.queue, data, target)
        return data.tolist()

    def test_sums_reach_to_both_sides(self):
        self.assertEqual(self.sums([1, 2, 3, 4, 5], 1, 5), [3, 6, 9, 12, 9])
        self.assertEqual(self.sums([1, 2, 3, 4, 5], 2, 5), [6, 10, 15, 14, 12])

    def test_work_items_beyond_the_end_do_nothing(self):
        self.assertEqual(self.sums([4, 5, 6], 1, 8), [9, 15, 11, -1, -1, -1, -1, -1])

    def test_a_reach_of_none_and_of_all(self):
        self.assertEqual(self.sums([7, 8, 9], 0, 3), [7, 8, 9])
        self.assertEqual(self.sums([7, 8, 9], 10, 3), [24, 24, 24])

    def test_clip(self):
        self.assertEqual(self.clipped([1, 2, 3], 0, 9), [1, 2, 3])
        self.assertEqual(self.clipped([50, 3], 0, 9), [9, 3])
        self.assertEqual(self.clipped([-5, 3], 0, 9)[1], 3)


if __name__ == "__main__":
    unittest.main()
