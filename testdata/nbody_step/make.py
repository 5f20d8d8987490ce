"""Writes this folder's .npy files (run it here)."""

import numpy as np

dt, softening, wall, near = 0.125, 0.25, 7.5, 5.0
rng = np.random.default_rng(51)
n = 60
pos = np.concatenate([rng.integers(-64, 65, (n, 3)) / 8, rng.integers(1, 4, (n, 1))], axis=1)
vel = np.concatenate([rng.integers(-64, 65, (n, 3)) / 16, np.zeros((n, 1))], axis=1)

d = pos[None, :, :3] - pos[:, None, :3]
square = (d**2).sum(axis=2)
others = ~np.eye(n, dtype=bool)
weight = pos[None, :, 3] / (square + softening) ** 1.5 * others
force = (d * weight[:, :, None]).sum(axis=1)
distance = np.sqrt(square)

new_vel = vel.copy()
new_vel[:, :3] += force * dt
new_pos = pos.copy()
new_pos[:, :3] += new_vel[:, :3] * dt
out = np.abs(new_pos[:, 0]) > wall
new_vel[out, 0] *= -1
new_pos[out, 0] = pos[out, 0]
assert 0 < out.sum() < n
# no comparison in the kernel may hang on the last bit
assert np.abs(np.abs(pos[:, 0] + new_vel[:, 0] * dt) - wall).min() > 1e-3
assert np.abs(distance - near)[others].min() > 1e-4

for name, data in [("position", pos), ("velocity", vel), ("new_position", new_pos), ("new_velocity", new_vel)]:
    np.save(f"{name}.npy", data.astype(np.float32))
np.save("near.npy", ((distance < near) & others).sum(axis=1).astype(np.int32))
np.save("nearest.npy", np.where(others, distance, np.inf).min(axis=1).astype(np.float32))
