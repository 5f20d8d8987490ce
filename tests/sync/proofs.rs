//! Compares proofs with runs: random kernels that race, diverge or do neither, in many launches of up to 64 work-items.
//! No launch may contradict a proof.
//!
//! `KASSAY_RANDOM_PROOFS` sets the number of kernels, `KASSAY_RANDOM_PROOFS_FROM` the first seed.

use std::fmt::Write;
use std::path::Path;

use kassay::result::check::Scope;
use kassay::result::proofs::{Proof, Property, Status};
use kassay::{CheckOptions, OpenOptions, Proving, check};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::TestResult;

/// Kernels without the environment variable.
const KERNELS: u64 = 40;
/// Elements of the buffers; indices are small numbers, counted from the middle.
const ELEMENTS: usize = 8192;

struct Generator {
    random: ChaCha8Rng,
    text: String,
    depth: usize,
    loops: usize,
    left: usize,
    /// Whether all work-items come here.
    together: bool,
    /// Counters around that double or halve.
    powers: Vec<usize>,
}

impl Generator {
    fn pick(&mut self, all: &[&str]) -> String {
        (*all.choose(&mut self.random).unwrap_or(&"0")).to_owned()
    }

    /// A number: of an id, of a scalar, of the code, or computed from such.
    fn number(&mut self, depth: usize) -> String {
        let plain = self.random.random_range(0..10) < 4 || depth == 0;
        if plain {
            let mut all = vec!["g", "g", "l", "l", "w", "ls", "gs", "n", "m", "1", "2", "3", "4", "8", "-1", "t", "f"];
            let counters: Vec<String> = (0..self.loops).map(|i| format!("i{i}")).collect();
            all.extend(counters.iter().map(String::as_str));
            return self.pick(&all);
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        match self.random.random_range(0..19) {
            16 => format!("({a} & ({} - 1))", self.power()),
            17..=18 => format!("({a} {} {})", self.pick(&["&", "|", "^"]), self.power()),
            0..=3 => format!("({a} + {b})"),
            4 => format!("({a} - {b})"),
            5..=6 => format!("({a} * {b})"),
            7 => format!("({a} / {})", self.random.random_range(1..5)),
            8 => format!("({a} % {})", self.random.random_range(1..9)),
            9 => format!("({a} & {})", [1, 3, 7, 15, 6, -2].choose(&mut self.random).unwrap_or(&1)),
            10 => format!("({a} >> {})", self.random.random_range(0..3)),
            11 => format!("({a} << {})", self.random.random_range(0..3)),
            12 => format!("{}((int)({a}), (int)({b}))", self.pick(&["min", "max"])),
            13 => format!("({} ? {a} : {b})", self.condition(depth - 1)),
            14 => format!("({})({a})", self.pick(&["uchar", "char", "ushort", "uint"])),
            _ => format!("({a} ^ {})", self.random.random_range(0..4)),
        }
    }

    /// A power of two, mostly.
    fn power(&mut self) -> String {
        match self.powers.choose(&mut self.random) {
            Some(i) => format!("i{i}"),
            None => self.pick(&["4", "2", "(1 << m)", "n"]),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let (a, b) = (self.number(depth.min(1)), self.number(depth.min(1)));
        let sign = self.pick(&["<", "<", "<=", ">", ">=", "==", "!="]);
        match self.random.random_range(0..6) {
            0 => format!("((uint)({a}) {sign} (uint)({b}))"),
            _ => format!("({a} {sign} {b})"),
        }
    }

    /// The same for all work-items of a group.
    fn uniform(&mut self) -> String {
        self.pick(&["n", "m", "w", "ls", "2", "3"])
    }

    fn place(&mut self) -> String {
        let index = self.number(2);
        let memory = self.pick(&["a", "a", "s", "s", "b", "u", "v"]);
        match memory.as_str() {
            "u" | "v" => format!("{memory}[({index}) & 31]"),
            "s" => format!("s[({index}) & 63]"),
            memory => format!("{memory}[{index}]"),
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth + 1));
    }

    fn block(&mut self, head: &str, together: bool) {
        self.line(&format!("{head} {{"));
        let before = self.together;
        self.together = before && together;
        self.depth += 1;
        for _ in 0..self.random.random_range(1..4) {
            self.statement();
        }
        self.depth -= 1;
        self.together = before;
        self.line("}");
    }

    /// An asynchronous copy, and a wait for it, mostly at once.
    fn copy(&mut self) {
        let (begin, count, from) = (self.uniform(), self.uniform(), self.uniform());
        let tile = format!("s + ({begin} & 31)");
        let (to, from) = match self.random.random_range(0..3) {
            0 => (format!("a + ({from})"), format!("(local const int *)({tile})")),
            1 => (tile, format!("(global const int *)a + ({from})")),
            _ => (tile, format!("b + ({from})")),
        };
        self.line(&format!("event_t e = async_work_group_copy({to}, {from}, (size_t)({count} & 15), 0);"));
        if self.random.random_range(0..3) == 0 {
            let place = self.place();
            self.line(&format!("x += {place};"));
        }
        self.line("wait_group_events(1, &e);");
    }

    fn statement(&mut self) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let deep = self.depth > 2;
        match self.random.random_range(0..19) {
            16 => {
                let turn = self.pick(&["f = 1 - f;", "f ^= 1;", "{ local int *o = u; u = v; v = o; }"]);
                self.line(&turn);
            }
            17..=18 if !deep && self.loops < 3 => {
                let i = self.loops;
                let head = self.pick(&[
                    "for (int I = 4; I > 0; I >>= 1)",
                    "for (uint I = 8; I > 0; I /= 2)",
                    "for (int I = 1; I < (n & 15); I *= 2)",
                    "for (uint I = 1; I < 9; I <<= 1)",
                    // None is a power of two.
                    "for (int I = 6; I > 0; I >>= 1)",
                    "for (int I = ls; I > 0; I /= 2)",
                ]);
                self.loops += 1;
                self.powers.push(i);
                self.block(&head.replace('I', &format!("i{i}")), true);
                self.powers.pop();
                self.loops -= 1;
            }
            14 if self.together => {
                self.line("{");
                self.depth += 1;
                self.copy();
                self.depth -= 1;
                self.line("}");
            }
            0..=3 => {
                let (place, value) = (self.place().replace("b[", "a["), self.number(1));
                self.line(&format!("{place} = {value};"));
            }
            4..=5 => {
                let place = self.place();
                self.line(&format!("x += {place};"));
            }
            6 => {
                let place = self.place();
                self.line(&format!("t = {place} & 7;"));
            }
            7 if self.random.random_range(0..3) == 0 => {
                let place = self.place().replace("b[", "a[").replace("s[", "a[");
                self.line(&format!("t = atomic_inc(&{place}) & 15;"));
            }
            // Now and then where not all come.
            7..=9 if self.together || self.random.random_range(0..12) == 0 => {
                let flags = self.pick(&[
                    "CLK_LOCAL_MEM_FENCE",
                    "CLK_GLOBAL_MEM_FENCE",
                    "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE",
                ]);
                self.line(&format!("barrier({flags});"));
            }
            10 if !deep => {
                let (condition, uniform) = match self.random.random_range(0..3) {
                    0 => (format!("({} < {})", self.uniform(), self.uniform()), true),
                    _ => (self.condition(1), false),
                };
                self.block(&format!("if {condition}"), uniform);
            }
            11..=12 if !deep && self.loops < 3 => {
                let (begin, end, uniform) = match self.random.random_range(0..4) {
                    0 => (self.number(0), self.number(0), false),
                    _ => ("0".to_owned(), self.uniform(), true),
                };
                let i = self.loops;
                let step = self.pick(&["++", " += 2", " += ls"]);
                self.loops += 1;
                self.block(&format!("for (int i{i} = {begin}; i{i} < ({end} & 7); i{i}{step})"), uniform);
                self.loops -= 1;
            }
            13 if !self.together && self.random.random_range(0..3) == 0 => {
                let what =
                    if self.loops > 0 { self.pick(&["break;", "continue;", "return;"]) } else { "return;".into() };
                let condition = self.condition(0);
                self.line(&format!("if {condition} {what}"));
            }
            _ => {
                let value = self.number(1);
                self.line(&format!("t = {value};"));
            }
        }
    }
}

/// A kernel of its seed.
fn kernel(seed: u64) -> String {
    let random = ChaCha8Rng::seed_from_u64(seed);
    let mut generator =
        Generator { random, text: String::new(), depth: 0, loops: 0, left: 14, together: true, powers: Vec::new() };
    generator.text.push_str(
        "kernel void k(global int *a0, global const int *b0, int n, int m) {\n    local int s[64];\n    \
         int g = get_global_id(0), l = get_local_id(0), w = get_group_id(0), ls = get_local_size(0), gs = \
         get_global_size(0), x = 0, t = 0, f = 0;\n    local int *u = s, *v = s + 32;\n    global int *a = a0 + 4096;\n    global const int *b = b0 + 4096;\n",
    );
    while generator.left > 0 {
        generator.statement();
    }
    generator.text.push_str("    if (x == 123456789) a0[0] = x;\n}\n");
    generator.text
}

/// A suite with launches of several sizes and scalars.
fn suite() -> String {
    let mut text = "kernel = \"k.cl\"\n".to_owned();
    let sizes = [(8, 4), (6, 3), (16, 16), (4, 1), (64, 8), (12, 4), (2, 2), (9, 3)];
    let scalars = [(8, 4), (0, 1), (3, 3), (-3, 2), (16, 8), (5, 0), (1, 16), (64, -1)];
    for (i, ((global, local), (n, m))) in sizes.into_iter().zip(scalars).enumerate() {
        let _ = write!(
            text,
            "[[test]]\nname = \"{i}\"\nglobal = [{global}]\nlocal = [{local}]\n[test.args]\n\
             a0 = {{ fill = 0, len = {ELEMENTS} }}\n\
             b0 = {{ random = {{ len = {ELEMENTS}, seed = {i}, min = 0, max = 9 }} }}\nn = {n}\nm = {m}\n"
        );
    }
    text
}

/// Checks one kernel; returns the contradiction, if there is one, and how many properties were proved.
fn judged(folder: &Path, seed: u64) -> TestResult<(Option<String>, usize)> {
    let text = kernel(seed);
    std::fs::write(folder.join("k.cl"), &text)?;
    std::fs::write(folder.join("suite.toml"), suite())?;
    let opened = OpenOptions::new().open(folder.join("suite.toml"))?;
    let options = CheckOptions::new().amplify(false).redundant(false).prove(Proving::Long);
    let result = check(&opened, &options)?;
    let contradicted = result.notes.iter().find(|note| note.contains("contradicts the proof"));
    let proved = result.proofs.iter().filter(|proof| proof.status == Status::Proved).count();
    Ok((contradicted.map(|note| format!("seed {seed}: {note}\n{:?}\n{text}", result.proofs)), proved))
}

#[test]
fn no_launch_of_a_random_kernel_contradicts_a_proof() -> TestResult {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let count = number("KASSAY_RANDOM_PROOFS").unwrap_or(KERNELS);
    let first = number("KASSAY_RANDOM_PROOFS_FROM").unwrap_or(0);
    let folder = tempfile::tempdir()?;
    let (mut proved, mut wrong) = (0, Vec::new());
    for seed in first..first + count {
        let (contradiction, of_kernel) = judged(folder.path(), seed)?;
        proved += of_kernel;
        wrong.extend(contradiction);
    }
    println!("{count} kernels, {proved} properties proved");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    // Else nothing was compared.
    assert!(proved as u64 >= count, "only {proved} properties of {count} kernels are proved");
    Ok(())
}

/// What may be proved: in both scopes, if there are two and none is named.
type Claim = (Property, Option<Scope>);

const WITHIN: Claim = (Property::RaceFreedom, Some(Scope::IntraGroup));

/// Kernels that race, diverge or leave an array in some launch, each by one of the ways to overlook it: the property that
/// does not hold (in both scopes, or in one), and what its proof has to assume if there is one.
const SUBTLE: [(&str, &str, Claim, &str); 29] = [
    (
        "halves of what is no power of two",
        "kernel void k(local int *s) { uint l = get_local_id(0); for (uint g = get_local_size(0) / 2; g > 0; g >>= 1) { uint \
         low = 2 * l - (l & (g - 1)); s[low] = s[low + g]; barrier(CLK_LOCAL_MEM_FENCE); } }",
        WITHIN,
        "",
    ),
    (
        "halves of the code that are no power of two",
        "kernel void k(global int *a) { int l = get_local_id(0); for (int g = 12; g > 0; g >>= 1) { int low = 2 * l - (l & \
         (g - 1)); a[low] = a[low + g]; barrier(CLK_GLOBAL_MEM_FENCE); } }",
        WITHIN,
        "",
    ),
    (
        "both of a pair",
        "kernel void k(global int *a) { int l = get_local_id(0); for (int g = 4; g > 0; g >>= 1) { a[l ^ g] = a[l]; \
         barrier(CLK_GLOBAL_MEM_FENCE); } }",
        WITHIN,
        "",
    ),
    (
        "rows that turn in some iterations only",
        "kernel void k(global int *a, global int *b, int n) { global int *from = a, *to = b; int l = get_local_id(0), m = \
         get_local_size(0); for (int i = 0; i < n; i++) { to[l] = from[(l + 1) % m]; barrier(CLK_GLOBAL_MEM_FENCE); if (i \
         != 1) { global int *o = from; from = to; to = o; } } for (int i = 0; i < n; i++) { to[l] = from[(l + 1) % m]; \
         global int *o = from; from = to; to = o; } }",
        WITHIN,
        "",
    ),
    (
        "turns that each work-item takes for itself",
        "kernel void k(global int *a, int n) { int l = get_local_id(0), f = 0; for (int i = 0; i < l; i++) f = 1 - f; a[l + \
         f] = l; }",
        WITHIN,
        "",
    ),
    (
        "a turn that is no turn",
        "kernel void k(global int *a, int n) { int l = get_local_id(0), f = 0; for (int i = 0; i < n; i++) { a[f * l] = l; \
         barrier(CLK_GLOBAL_MEM_FENCE); f = 1 - f; } }",
        WITHIN,
        "",
    ),
    (
        "a conversion between iterations",
        "kernel void k(global int *a, int n) { int p = n; for (int j = 0; j < 3; j++) { if (p != n - j) a[0] = \
         get_global_id(0); p = (uchar)(p - 1); } }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "a conversion that ranges decide",
        "kernel void k(global int *a, long n) { int t = (int)n; if (t != n) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "integers fit their types",
    ),
    (
        "products of vectors that wrap",
        "kernel void k(global int *a) { uint g = get_global_id(0); uint2 v = (uint2)(g, g) * (uint2)(0x40000000u); \
         a[v.x] = g; }",
        (Property::RaceFreedom, None),
        "integers fit their types",
    ),
    (
        "one place with two widths",
        "typedef union { int i; uchar c; } word; typedef struct { word w; int n; } both; kernel void k(global int *a, \
         both s) { if (s.w.i == 257 && s.w.c == 1) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "a counter with great steps",
        "kernel void k(global int *a, global int *c) { if (atomic_add(c, 1 << 30) == 0) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "an atomic of one group",
        "kernel void k(global atomic_int *a) { atomic_fetch_add_explicit(a, 1, memory_order_relaxed, \
         memory_scope_work_group); }",
        (Property::RaceFreedom, Some(Scope::InterGroup)),
        "",
    ),
    (
        "a flag that others set",
        "kernel void k(global atomic_int *f) { if (__opencl_atomic_load(f, memory_order_relaxed, \
         memory_scope_device)) barrier(CLK_LOCAL_MEM_FENCE); __opencl_atomic_store(f, 1, memory_order_relaxed, \
         memory_scope_device); }",
        (Property::Convergence, None),
        "",
    ),
    (
        "a race that parts work-items",
        "kernel void k(global int *f) { if (f[0]) barrier(CLK_GLOBAL_MEM_FENCE); f[0] = 1; }",
        (Property::Convergence, None),
        "no work-items race",
    ),
    (
        "a pointer to one of two arrays",
        "kernel void k(global int *a) { int i = get_global_id(0); int t[4], u[4]; int *both[2] = {t, u}; both[i & \
         1][100] = 3; a[i] = t[0] + u[0]; }",
        (Property::Bounds, None),
        "",
    ),
    (
        "an unsigned scalar",
        "kernel void k(global int *a, uint n) { if (n > 0x7fffffffu) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "a column without an end",
        "kernel void k(global int *a, int n) { a[get_global_id(1) * n + get_global_id(0)] = 1; }",
        (Property::RaceFreedom, None),
        "n >= ",
    ),
    (
        "a copy that overtakes readers of the last one",
        "kernel void k(global const int *in, global int *out, int n) { local int t[64]; int l = get_local_id(0), x = 0; \
         for (int i = 0; i < n; i++) { event_t e = async_work_group_copy(t, in + 64 * i, 64, 0); wait_group_events(1, \
         &e); x += t[63 - l % 64]; } out[get_global_id(0)] = x; }",
        WITHIN,
        "",
    ),
    (
        "what is copied is read before",
        "kernel void k(global const int *in, global int *out) { local int t[64]; int l = get_local_id(0) % 64; t[l] = 1; \
         barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(t, in, 64, 0); int x = t[l]; \
         wait_group_events(1, &e); out[get_global_id(0)] = x; }",
        WITHIN,
        "",
    ),
    (
        "what is copied is written before",
        "kernel void k(global int *out) { local int t[64]; int l = get_local_id(0) % 64; if (get_local_id(0) < 64) t[l] = \
         l; event_t e = async_work_group_copy(out + 64 * get_group_id(0), t, 64, 0); wait_group_events(1, &e); }",
        WITHIN,
        "",
    ),
    (
        "the source is changed behind the call",
        "kernel void k(global int *a, global int *out) { local int t[64]; int l = get_local_id(0); size_t b = 64 * \
         get_group_id(0); event_t e = async_work_group_copy(t, a + b, 64, 0); if (l < 64) a[b + l] = 0; \
         wait_group_events(1, &e); out[get_global_id(0)] = t[l % 64]; }",
        WITHIN,
        "",
    ),
    (
        "an event that the next one replaces",
        "kernel void k(global const int *in, global int *out) { local int t[64], u[64]; int l = get_local_id(0) % 64; \
         event_t e = async_work_group_copy(t, in, 64, 0); e = async_work_group_copy(u, in + 64, 64, 0); \
         wait_group_events(1, &e); out[get_global_id(0)] = t[l] + u[l]; }",
        WITHIN,
        "",
    ),
    (
        "two copies to one place",
        "kernel void k(global const int *in, global int *out) { local int t[64]; int l = get_local_id(0) % 64; event_t \
         e[2]; e[0] = async_work_group_copy(t, in, 32, 0); e[1] = async_work_group_copy(t + 31, in + 64, 32, 0); \
         wait_group_events(2, e); out[get_global_id(0)] = t[l]; }",
        WITHIN,
        "",
    ),
    (
        "copies of groups that overlap",
        "kernel void k(global int *out) { local int t[64]; int l = get_local_id(0); if (l < 64) t[l] = l; \
         barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_strided_copy(out + 64 * get_group_id(0), t, 64, 2, \
         0); wait_group_events(1, &e); }",
        (Property::RaceFreedom, Some(Scope::InterGroup)),
        "get_num_groups(0) == 1",
    ),
    (
        "texels of pairs",
        "kernel void k(write_only image2d_t to) { write_imagef(to, (int2)(get_global_id(0) / 2, get_global_id(1)), \
         (float4)(get_global_id(0))); }",
        WITHIN,
        "",
    ),
    (
        "a barrier that does not order texels",
        "kernel void k(read_write image2d_t a) { int x = get_local_id(0), n = get_local_size(0); write_imagei(a, \
         (int2)(x, get_group_id(0)), (int4)(x)); barrier(CLK_GLOBAL_MEM_FENCE); int4 v = read_imagei(a, (int2)(n - 1 - \
         x, get_group_id(0))); barrier(CLK_IMAGE_MEM_FENCE); write_imagei(a, (int2)(x, get_group_id(0)), v); }",
        WITHIN,
        "",
    ),
    (
        "a place in the sub-group is none in the group",
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\nkernel void k(global int *a) { local int t[256]; t[get_sub_group_local_id()] = \
         get_local_id(0); a[get_global_id(0)] = 0; }",
        WITHIN,
        "",
    ),
    (
        "a barrier of the sub-group is none of the group",
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\nkernel void k(global int *a) { local int t[256]; int l = \
         get_local_id(0) & 255, n = get_local_size(0); if (l == get_local_id(0)) t[l] = l; \
         sub_group_barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = t[255 - l]; }",
        WITHIN,
        "",
    ),
    (
        "a reduction that some do not come to",
        "kernel void k(global int *a, int n) { int l = get_local_id(0); if (l < n) a[get_global_id(0)] = \
         work_group_reduce_add(l); }",
        (Property::Convergence, None),
        "",
    ),
];

/// Nothing is proved that some launch contradicts, but for what the proof names as a precondition.
#[test]
fn subtle_faults_are_not_proved_absent() -> TestResult {
    let folder = tempfile::tempdir()?;
    for (what, text, (property, scope), needs) in SUBTLE {
        let file = folder.path().join("k.cl");
        std::fs::write(&file, text)?;
        let opened = OpenOptions::new().cl_std(Some("CL2.0".to_owned())).open_kernel(&file)?;
        let options = CheckOptions::new().amplify(false).redundant(false).prove(Proving::Long);
        let result = check(&opened, &options)?;
        // A run would put right what was proved wrongly.
        let is_wrong = |note: &&String| note.contains("contradicts") && (needs.is_empty() || !note.contains(needs));
        assert!(!result.notes.iter().any(|note| is_wrong(&note)), "{what}: {:?}", result.notes);
        let is_meant = |proof: &&Proof| proof.property == property && (scope.is_none() || proof.scope == scope);
        let proofs: Vec<&Proof> = result.proofs.iter().filter(is_meant).collect();
        let is_named = |proof: &&Proof| {
            proof.status != Status::Proved
                || (!needs.is_empty() && proof.preconditions.iter().any(|clause| clause.contains(needs)))
        };
        assert!(!proofs.is_empty() && proofs.iter().all(is_named), "{what}: {proofs:?}");
    }
    Ok(())
}

/// A proof within groups rests on the condition under which their barriers converge.
#[test]
fn race_freedom_within_groups_rests_on_convergence() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("k.cl");
    let text = "kernel void k(global int *a, int n) { int l = get_local_id(0), g = get_global_id(0); if (l < n) \
                barrier(CLK_LOCAL_MEM_FENCE); a[g] = l; }";
    std::fs::write(&file, text)?;
    let opened = OpenOptions::new().open_kernel(&file)?;
    let result = check(&opened, &CheckOptions::new().amplify(false).prove(Proving::Long))?;
    let of = |property, scope| result.proofs.iter().find(|p| p.property == property && p.scope == scope);
    let convergence = of(Property::Convergence, None).ok_or("no convergence")?;
    let within = of(Property::RaceFreedom, Some(Scope::IntraGroup)).ok_or("no race freedom")?;
    assert!(convergence.condition.is_some() || convergence.status != Status::Proved, "{convergence:?}");
    if within.status == Status::Proved {
        assert!(within.condition.is_some(), "{within:?}");
    }
    Ok(())
}

/// What shows in launches only that are too large to run is not known.
#[test]
fn models_of_great_launches_are_not_run() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("k.cl");
    let text = "kernel void k(global int *a, int n) { if (get_num_groups(0) * 3 > 210001 + (n & 1)) a[0] = get_global_id(0); }";
    std::fs::write(&file, text)?;
    let opened = OpenOptions::new().open_kernel(&file)?;
    let result = check(&opened, &CheckOptions::new().amplify(false).prove(Proving::Long))?;
    let between = result.proofs.iter().find(|p| p.scope == Some(Scope::InterGroup)).ok_or("no proof")?;
    assert_eq!((between.status, between.replayed), (Status::Unknown, false), "{between:?}");
    Ok(())
}

/// What the solver's model shows in a run refutes a property, with the launch.
#[test]
fn launches_of_models_refute_what_is_not_proved() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("k.cl");
    let text = "kernel void k(global int *p, int a, int b) { int i = get_global_id(0); if (i == 3) p[a * a] = 1; if (i \
                == 4) p[b * a] = 2; }";
    std::fs::write(&file, text)?;
    let opened = OpenOptions::new().open_kernel(&file)?;
    let result = check(&opened, &CheckOptions::new().amplify(false).prove(Proving::Long))?;
    let refuted = result.proofs.iter().find(|p| p.replayed).ok_or_else(|| format!("{:?}", result.proofs))?;
    let launch = refuted.counterexample.as_deref().unwrap_or_default();
    assert_eq!(refuted.status, Status::Refuted);
    assert!(launch.contains("`a == ") && launch.contains("`b == "), "{launch}");
    assert!(refuted.why_not.iter().any(|why| why.contains("writes `p[")), "{:?}", refuted.why_not);
    Ok(())
}
