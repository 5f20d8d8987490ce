"""pyvkfft transforms, there and back."""

import numpy as np, pyopencl as cl, pyopencl.array
from pyvkfft.fft import fftn, ifftn
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
data = np.random.default_rng(1).random((32, 48)).astype(np.complex64)
there = fftn(pyopencl.array.to_device(queue, data))
assert np.allclose(there.get(), np.fft.fftn(data), rtol=1e-3, atol=1e-2) and np.allclose(ifftn(there).get(), data, atol=1e-4)
print("agrees")
