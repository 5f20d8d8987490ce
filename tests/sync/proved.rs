//! Kernels whose race freedom is proved for all launches, and under which condition.

use kassay::result::proofs::{Property, ProvedFor, Status};
use kassay::{CheckOptions, OpenOptions, Proving, check};

use crate::common::TestResult;

/// It is not proved.
const NOT: &str = "not";

/// What is proved by which reasoning, and under which conditions within and between groups.
const PROVED: [(&str, &str, &str, &str); 21] = [
    (
        "rows by the group's id",
        "kernel void k(global int *p, int n) { int x = get_global_id(0); if (x < n) p[get_group_id(1) * n + x] = x; }",
        "`get_local_size(1) == 1`",
        "",
    ),
    (
        "rows that pointers lead to",
        "kernel void k(global int *global *p) { p[get_global_id(1)][get_global_id(0)] = 1; }",
        "the pointers in `p` lead to places apart",
        "the pointers in `p` lead to places apart",
    ),
    (
        "a row that pointers lead to",
        "kernel void k(global int *global *p) { p[get_global_id(0)][3] += p[2][get_global_id(0)]; }",
        NOT,
        NOT,
    ),
    (
        "a network of halves",
        "kernel void k(local uint *s, global uint *p) { uint l = get_local_id(0), h = get_local_size(0); s[l] = p[l]; s[l + \
         h] = p[l + h]; for (uint run = 2; run <= 2 * h; run <<= 1) for (uint gap = run / 2; gap > 0; gap >>= 1) { uint low \
         = 2 * l - (l & (gap - 1)); barrier(CLK_LOCAL_MEM_FENCE); uint a = s[low], b = s[low + gap]; if (a > b) { s[low] = \
         b; s[low + gap] = a; } } }",
        "",
        "",
    ),
    (
        "partners by one bit",
        "kernel void k(local int *s) { int l = get_local_id(0); for (int g = 1; g < (int)get_local_size(0); g *= 2) { if (!(l & \
         g)) { int t = s[l]; s[l] = s[l | g]; s[l | g] = t; } barrier(CLK_LOCAL_MEM_FENCE); } }",
        "",
        "",
    ),
    (
        "partners by exclusive or",
        "kernel void k(local int *s) { uint l = get_local_id(0); for (uint g = 64; g > 0; g >>= 1) { uint o = l ^ g; if (o > l) \
         { int t = s[l]; s[l] = s[o]; s[o] = t; } barrier(CLK_LOCAL_MEM_FENCE); } }",
        "",
        "",
    ),
    (
        "buffers that swap",
        "kernel void k(global float *a, global float *b, int n) { int l = get_local_id(0), m = get_local_size(0); global float \
         *from = a, *to = b; for (int i = 0; i < n; i++) { to[l] = from[(l + 1) % m]; barrier(CLK_GLOBAL_MEM_FENCE); \
         global float *o = from; from = to; to = o; } }",
        "",
        NOT,
    ),
    (
        "rows of one array that turn",
        "kernel void k(global int *out) { local int s[2][64]; int l = get_local_id(0), f = 0; s[0][l & 63] = 0; \
         barrier(CLK_LOCAL_MEM_FENCE); for (int d = 1; d < 64; d *= 2) { int v = l < 64 && l >= d ? s[f][l - d] : 0; f = 1 - f; \
         if (l < 64) s[f][l] = v; barrier(CLK_LOCAL_MEM_FENCE); } }",
        "`get_local_size(0) <= 64`",
        "",
    ),
    (
        "halves of local memory that turn",
        "kernel void k(local int *s) { uint l = get_local_id(0), n = get_local_size(0), from = 0; s[l] = l; \
         barrier(CLK_LOCAL_MEM_FENCE); for (uint d = 1; d < n; d *= 2) { uint to = n - from; s[to + l] = s[from + l] + (l >= \
         d ? s[from + l - d] : 0); barrier(CLK_LOCAL_MEM_FENCE); from = to; } }",
        "",
        "",
    ),
    (
        "components of vectors",
        "kernel void k(global float4 *p, int n) { int i = get_global_id(0); float m = 0; for (int j = 0; j < n; j++) m += \
         p[j].w; p[i].xyz *= m; }",
        "",
        "",
    ),
    (
        "ranges between offsets",
        "kernel void k(global const int *begin, global float *v, int rows) { int r = get_global_id(0); if (r < rows) for (int \
         j = begin[r]; j < begin[r + 1]; j++) v[j] *= 2; }",
        "the elements of `begin` do not fall",
        "the elements of `begin` do not fall",
    ),
    (
        "unsigned rows",
        "kernel void k(global uint *p, uint w, uint h) { uint x = get_global_id(0), y = get_global_id(1); if (x < w && y < h) \
         p[y * w + x] = x; }",
        "`w <= 2147483647`",
        "`w <= 2147483647`",
    ),
    (
        "unsigned pitches",
        "kernel void k(global uint *p, uint w, uint pitch) { uint x = get_global_id(0), y = get_global_id(1); if (x < w) p[y * \
         pitch + x] = x; }",
        "`pitch >= get_global_size(0)` and `pitch <= 2147483647`",
        "`pitch >= get_global_size(0)` and `pitch <= 2147483647`",
    ),
    (
        "rows of a size that is a vector",
        "kernel void k(global int *p, int2 size) { int x = get_global_id(0), y = get_global_id(1); p[y * size.x + x] = x; }",
        "`size.x >= get_global_size(0)`",
        "`size.x >= get_global_size(0)`",
    ),
    (
        "rows of a size that is a member",
        "typedef struct { int width; float scale; } shape; kernel void k(global float *p, shape s) { int x = get_global_id(0), y \
         = get_global_id(1); p[y * s.width + x] = s.scale; }",
        "`s.width >= get_global_size(0)`",
        "`s.width >= get_global_size(0)`",
    ),
    (
        "a few components each",
        "kernel void k(global uchar *p) { size_t i = get_global_id(0), c = get_global_id(1); p[3 * i + c] = 0; }",
        "`get_global_size(1) <= 3`",
        "`get_global_size(1) <= 3`",
    ),
    (
        "groups of at least a word",
        "kernel void k(global uchar *p) { uint l = get_local_id(0); global uchar *m = p + get_group_id(0) * get_local_size(0); \
         if (l == 0) *(global uint *)m = 1; else if (l >= 4) m[l] = l; }",
        "",
        "`get_local_size(0) >= 4`",
    ),
    (
        "a radius with a limit",
        "kernel void k(int radius) { local int s[12][12]; int l = get_local_id(0); for (int y = 0; y < 12; y++) if (l < 8 + 2 * \
         radius) s[y][l] = 0; }",
        "`get_local_size(0) <= 12`",
        "",
    ),
    (
        "the first that comes",
        "kernel void k(global int *taken, global int *out) { if (atomic_xchg(taken, 1) == 0) out[0] = get_global_id(0); }",
        "",
        "",
    ),
    (
        "nodes that are claimed",
        "kernel void k(global const int *next, global int *seen, global int *level, int n) { int i = get_global_id(0), j = \
         next[i]; if (j >= 0 && j < n && atomic_cmpxchg(&seen[j], 0, 1) == 0) level[j] = i; }",
        "",
        "",
    ),
    (
        "halves of a group",
        "kernel void k(local int *s) { int l = get_local_id(0), h = get_local_size(0) / 2; s[l < h ? l : 3 * h - 1 - l] = l; }",
        "`get_local_size(0) % 2 == 0`",
        "",
    ),
];

#[test]
fn races_are_excluded_under_the_weakest_condition() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut wrong = Vec::new();
    for (what, text, within, between) in PROVED {
        let file = folder.path().join("k.cl");
        std::fs::write(&file, text)?;
        // Earlier versions have no kernels that take pointers to pointers.
        let version = text.contains("*global *").then(|| "CL2.0".to_owned());
        let opened = OpenOptions::new().cl_std(version).open_kernel(&file)?;
        let result = check(&opened, &CheckOptions::new().amplify(false).redundant(false).prove(Proving::Long))?;
        assert!(!result.notes.iter().any(|note| note.contains("contradicts")), "{what}: {:?}", result.notes);
        let proofs: Vec<_> = result.proofs.iter().filter(|p| p.property == Property::RaceFreedom).collect();
        for (proof, condition) in proofs.iter().zip([within, between]) {
            if condition == NOT {
                continue;
            }
            let is_as_said = proof.status == Status::Proved
                && proof.holds_for == Some(ProvedFor::AllLaunches)
                && proof.condition.as_deref().unwrap_or_default() == condition;
            if !is_as_said {
                wrong.push(format!("{what}: {proof:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn launches_have_the_dimensions_that_given_ones_have() -> TestResult {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("k.cl"), "kernel void k(global int *p) { p[get_global_id(0)] = 1; }\n")?;
    let file = folder.path().join("suite.toml");
    for (global, local, status) in [("[8]", "[4]", Status::Proved), ("[8, 2]", "[4, 2]", Status::Refuted)] {
        let test = format!("global = {global}\nlocal = {local}\nargs = {{ p = {{ fill = 0, len = 8 }} }}\n");
        std::fs::write(&file, format!("kernel = \"k.cl\"\n[[test]]\nname = \"rows\"\n{test}"))?;
        let opened = OpenOptions::new().open(&file)?;
        let result = check(&opened, &CheckOptions::new().amplify(false).redundant(false).prove(Proving::Long))?;
        assert!(!result.notes.iter().any(|note| note.contains("contradicts")), "{global}: {:?}", result.notes);
        let within = result.proofs.iter().find(|p| p.property == Property::RaceFreedom);
        assert_eq!(within.map(|proof| proof.status), Some(status), "{global}: {:?}", result.proofs);
    }
    Ok(())
}
