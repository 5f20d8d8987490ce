"""Writes this folder's .npy files (run it here)."""

import numpy as np


def flags(pressure, heat, armed):
    n, out = len(pressure), []
    for i, (p, t) in enumerate(zip(pressure.tolist(), heat.tolist())):
        low, high = min(p, t), max(p, t)
        alarm = low > 80 or (armed and high > 95)
        flag = 1 if alarm else 0
        flag |= 2 if high > 60 and not alarm and armed else 0
        flag |= 4 if high <= 20 else 0
        flag |= 8 if p % 2 == 0 and t % 2 == 1 else 0
        flag |= 16 if (low > 50) == (low < 90) else 0
        flag += 1000 if abs(p) == abs(t) else 2000
        flag += 10000 if 40 <= low and high <= 60 else 0
        flag += 100 if low < 0 else 0
        before = next((k for k in range(i) if pressure[i - 1 - k] != p), i)
        after = next((k for k in range(1, n - i) if (pressure[i + k], heat[i + k]) != (p, t)), n - i)
        flag += 32 if before + after > 3 else 0
        out.append(flag)
    return np.array(out, np.int32)


rng = np.random.default_rng(71)
pressure = np.repeat(rng.integers(-20, 120, 60), rng.integers(1, 4, 60))[:110]
heat = np.where(rng.random(110) < 0.5, abs(pressure), rng.integers(0, 120, 110))
np.save("pressure.npy", pressure.astype(np.int32))
np.save("heat.npy", heat.astype(np.int32))
np.save("armed.npy", flags(pressure, heat, True))
few = np.array([90, 96, 10, 70, 70, 70, 70, 51]), np.array([90, 10, 10, 30, 30, 30, 30, 53])
np.save("disarmed.npy", flags(*few, False))
