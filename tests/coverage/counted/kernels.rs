//! Defines kernels in the style of common benchmarks, each with a suite, and writes them to files.

use std::path::{Path, PathBuf};

pub struct Kernel<'a> {
    pub name: &'a str,
    pub source: &'a str,
    /// A suite's tests.
    pub tests: &'a str,
}

/// LU decomposition of a matrix by one work-group, one row per work-item.
pub const LU: Kernel<'static> = Kernel {
    name: "lu",
    source: "__kernel void lu(__global float *m, uint n) {
    uint row = get_local_id(0);
    for (uint k = 0; k < n; k++) {
        if (row > k) m[row * n + k] /= m[k * n + k];
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (uint j = k + 1; j < n; j++) {
            if (row > k) m[row * n + j] -= m[row * n + k] * m[k * n + j];
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
",
    tests: "[[test]]
name = \"4 by 4\"
global = [4]
local = [4]
[test.args]
m = { values = [4, 1, 2, 1, 2, 5, 1, 3, 1, 2, 6, 1, 3, 1, 1, 7] }
n = 4
",
};

/// The cheapest path down a grid, row by row, with neighbours in local memory.
pub const PATH: Kernel<'static> = Kernel {
    name: "path",
    source: "__kernel void path(__global const int *wall, __global int *best, __local int *row, uint cols, uint rows) {
    uint x = get_global_id(0);
    uint l = get_local_id(0);
    row[l] = wall[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = 1; y < rows; y++) {
        int least = row[l];
        if (l > 0 && row[l - 1] < least)
            least = row[l - 1];
        if (l + 1 < get_local_size(0) && row[l + 1] < least)
            least = row[l + 1];
        barrier(CLK_LOCAL_MEM_FENCE);
        row[l] = least + wall[y * cols + x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    best[x] = row[l];
}
",
    tests: "[[test]]
name = \"3 rows\"
global = [4]
local = [4]
[test.args]
wall = { values = [3, 1, 2, 4, 1, 1, 1, 1, 5, 6, 7, 8] }
best = { fill = 0, len = 4, expect = { values = [7, 8, 9, 11] } }
row = { local = 16 }
cols = 4
rows = 3
",
};

/// Sums per work-group.
pub const REDUCE: Kernel<'static> = Kernel {
    name: "reduce",
    source: "__kernel void reduce(__global const int *in, __global int *out, __local int *s, uint n) {
    uint l = get_local_id(0);
    uint i = get_global_id(0);
    s[l] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = get_local_size(0) / 2; w > 0; w /= 2) {
        if (l < w) s[l] += s[l + w];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = s[0];
}
",
    tests: "[[test]]
name = \"6 of 8\"
global = [8]
local = [4]
[test.args]
in = { values = [1, 2, 3, 4, 5, 6] }
out = { fill = 0, len = 2, expect = { values = [10, 11] } }
s = { local = 16 }
n = 6
",
};

/// Labels for ranges, a constant operand, macro arguments, `goto`, and a kernel that calls another one.
pub const ODDITIES: Kernel<'static> = Kernel {
    name: "oddities",
    source: "#define WHEN(c, s) if (c) { s; }
__kernel void other(__global int *o, int x) {
    if (x > 2)
        o[x] += 70;
}
__kernel void oddities(__global int *o) {
    int i = get_global_id(0);
    switch (i) {
    case 1 ... 3: o[i] = 1; break;
    case 100 ... 1000: o[i] = 2; break;
    case 5: o[i] = 3;
    }
    if (i && 0)
        o[i] = 9;
    WHEN(i == 6, o[i] = 4)
    int n = 0;
again:
    n++;
    if (n < i)
        goto again;
    o[i] += n;
    other(o, i);
}
",
    tests: "[[test]]
name = \"eight\"
global = [8]
local = [4]
[test.args]
o = { fill = 0, len = 8, expect = { values = [1, 2, 3, 74, 74, 78, 80, 77] } }
",
};

impl Kernel<'_> {
    /// Writes the source and its suite into `folder`; returns the paths of both.
    pub fn write(&self, folder: &Path) -> (PathBuf, PathBuf) {
        let source = folder.join(format!("{}.cl", self.name));
        std::fs::write(&source, self.source).unwrap();
        let suite = self.write_suite(folder, &format!("{}.cl", self.name));
        (source, suite)
    }

    /// Writes a suite for a kernel file of that name.
    pub fn write_suite(&self, folder: &Path, file: &str) -> PathBuf {
        let path = folder.join(format!("{file}.toml"));
        std::fs::write(&path, format!("kernel = \"{file}\"\nentry = \"{}\"\n\n{}", self.name, self.tests)).unwrap();
        path
    }
}
