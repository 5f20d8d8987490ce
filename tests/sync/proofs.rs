//! Compares proofs with runs: random kernels that race, diverge or do neither, in many launches of up to 64 work-items.
//! No launch may contradict a proof.
//!
//! `KASSAY_RANDOM_PROOFS` sets the number of kernels, `KASSAY_RANDOM_PROOFS_FROM` the first seed.

use std::fmt::Write;
use std::path::Path;

use kassay::result::check::Scope;
use kassay::result::proofs::{Property, Status};
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
