"""pmcxcl simulates photons."""

import numpy as np, pmcxcl
found = pmcxcl.run({"nphoton": 2000, "vol": np.ones([20, 20, 20], dtype="uint8"), "tstart": 0, "tend": 5e-9, "tstep": 5e-9, "srcpos": [10, 10, 0],
                    "srcdir": [0, 0, 1], "prop": np.array([[0, 0, 1, 1], [0.005, 1, 0.01, 1.37]])})
assert found["flux"].sum() > 0
