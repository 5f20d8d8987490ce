"""Writes this folder's .npy files (run it here): a random graph, and the second step of a search in it."""

import numpy as np

rng = np.random.default_rng(32)
nodes = 240
neighbours = [sorted(set(rng.integers(0, nodes, rng.integers(0, 6)).tolist())) for _ in range(nodes)]
neighbours[0] = [3, 17, 58, 99, 140, 201, 222]
level = np.full(nodes, -1, np.int32)
level[0] = 0
level[neighbours[0]] = 1
frontier = (level == 1).astype(np.int32)

after = level.copy()
reached = {to for node in neighbours[0] for to in neighbours[node] if level[to] == -1}
after[sorted(reached)] = 2
np.save("first_edge.npy", np.concatenate([[0], np.cumsum([len(n) for n in neighbours])]).astype(np.int32))
np.save("edge_to.npy", np.array([to for n in neighbours for to in n], np.int32))
np.save("frontier.npy", frontier)
np.save("level.npy", level)
np.save("level_after.npy", after)
np.save("next.npy", (after == 2).astype(np.int32))
np.save("found.npy", np.array([len(reached)], np.int32))
