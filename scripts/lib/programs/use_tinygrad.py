"""tinygrad's kernels: products, convolutions and their gradients, sorting, indexing."""

import numpy as np
from checked import say
from tinygrad import Tensor

draw = np.random.default_rng(8)
a, b = draw.standard_normal((33, 47)).astype(np.float32), draw.standard_normal((47, 21)).astype(np.float32)
picture, weights = draw.standard_normal((1, 3, 14, 11)).astype(np.float32), draw.standard_normal((4, 3, 3, 3)).astype(np.float32)
order = draw.permutation(40).astype(np.int32)


def check(name, got, expected):
    say(name, got.numpy(), expected)


check("matrix product", Tensor(a) @ Tensor(b), a @ b)
powers = np.exp(a - a.max(1, keepdims=True))
check("softmax", Tensor(a).softmax(1), powers / powers.sum(1, keepdims=True))
wide = np.pad(picture, ((0, 0), (0, 0), (1, 1), (1, 1)))
windows = np.lib.stride_tricks.sliding_window_view(wide[0], (3, 3), axis=(1, 2))
check("convolution", Tensor(picture).conv2d(Tensor(weights), padding=1).relu(), np.maximum(np.einsum("cyxij,ocij->oyx", windows, weights), 0)[None])
check("greatest of windows", Tensor(picture).max_pool2d((3, 3), stride=2),
      np.lib.stride_tricks.sliding_window_view(picture, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max((4, 5)))
values, positions = Tensor(order).sort()
check("sort", values, np.sort(order))
check("positions", positions, np.argsort(order))
check("cumulative sum", Tensor(order).cumsum(), np.cumsum(order))
check("where", (Tensor(a) > 0.3).where(Tensor(a).exp(), Tensor(a).abs()), np.where(a > 0.3, np.exp(a), abs(a)))
check("rows by number", Tensor(a)[Tensor(order[:20] % 33)], a[order[:20] % 33])
leaf = Tensor(a)
check("gradient", (leaf.tanh() * leaf).sum().gradient(leaf)[0], np.tanh(a) + a * (1 - np.tanh(a) ** 2))
