//! Measures how the time of the analyses of `kassay generate` grows with a kernel, on synthetic kernels of 100, 1,000
//! and 10,000 blocks: straight-line, nested, and with loops. Ten times the blocks may take [`LIMIT`] times as long;
//! small numbers are noise and are not judged.
//!
//! `cargo bench --bench growth -- [--most BLOCKS]`

mod common;

use std::error::Error;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use kassay_ir::cfg::sites::SiteKind;
use kassay_ir::instrument::marks;
use kassay_ir::kernel::compile;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile};
use kassay_judge::generate::roles;
use kassay_model::options::KernelOptions;
use kassay_prove::program::{promoted, reader};
use kassay_prove::solve::query;
use kassay_prove::symbolic::concolic::{Engine, Ranges};
use kassay_prove::symbolic::infeasible;

/// Allows for n log n and for cache misses.
const LIMIT: f64 = 20.0;
/// An analysis is judged only if it took at least this with the fewer blocks, in milliseconds.
const LEAST_MS: f64 = 5.0;

type BenchResult<T> = Result<T, Box<dyn Error>>;

/// Returns the source of a kernel of about `blocks` blocks.
fn source(shape: &str, blocks: usize) -> String {
    let mut body = String::new();
    let mut depth = 0;
    for k in 0..blocks / 3 {
        let _ = match shape {
            "straight" => {
                writeln!(body, "if (x > {k}u) {{ x ^= in[(x + {k}u) & 255u] + y; }} else {{ y += x * {}u; }}", k + 3)
            }
            "nested" => {
                depth += 1;
                if depth == 24 {
                    body.push_str(&"}\n".repeat(23));
                    depth = 1;
                }
                writeln!(body, "x += rotate(y, {}u); if (x != {k}u) {{ y ^= in[x & 255u];", k % 31)
            }
            _ => writeln!(
                body,
                "for (uint k = 0; k < (x & {}u); k++) {{ y = y * 31u + in[(k + y) & 255u]; }} x ^= y;",
                k % 7 + 1
            ),
        };
    }
    if shape == "nested" {
        body.push_str(&"}\n".repeat(depth));
    }
    format!(
        "kernel void k(global const uint *in, global uint *out, uint n) {{\n\
         uint x = get_global_id(0), y = n;\nif (x >= n) return;\n{body}out[get_global_id(0)] = x ^ y;\n}}\n"
    )
}

/// Returns the number of blocks, and the milliseconds of each analysis.
fn times(shape: &str, blocks: usize) -> BenchResult<(usize, Vec<(&'static str, f64)>)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("k.cl");
    std::fs::write(&path, source(shape, blocks))?;
    let loaded = compile::load(&path, &KernelOptions::default(), true)?;
    let context = Context::create();
    let file = KernelFile::parse(&context, &loaded)?;
    let mut all = Vec::new();
    let mut started = Instant::now();
    let mut lap = |name, started: &mut Instant| {
        all.push((name, started.elapsed().as_secs_f64() * 1e3));
        *started = Instant::now();
    };
    let under_test = file.under_test("k", &loaded, &build::sources_of(&path))?;
    lap("sites", &mut started);
    let model = roles::infer(&under_test)?;
    lap("roles", &mut started);
    let branches = under_test.sites.sites.iter().enumerate().filter(|(_, s)| s.kind == SiteKind::Branch);
    let wanted: Vec<(usize, usize)> =
        branches.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect();
    let module = under_test.module.clone();
    marks::weave(&module, &under_test.sites, &wanted)?;
    lap("marks", &mut started);
    let module = promoted::promote(&module, &under_test.entry, &under_test.machine)?;
    lap("promote", &mut started);
    let program = reader::read(&module, &under_test.entry)?;
    lap("read", &mut started);
    let engine = Engine::new(&program, &model.interface, &[], Ranges::default());
    lap("graph of states", &mut started);
    drop(engine);
    // The set-up and one proof: further proofs are bounded by their time limit.
    let limits = query::Limits { rlimit: 100_000, end: Some(Instant::now() + Duration::from_secs(60)) };
    infeasible::prove(&program, &under_test.interface, &[0], &[], &build::sources_of(&path), &limits);
    lap("proof", &mut started);
    Ok((program.blocks.len(), all))
}

fn main() -> BenchResult<()> {
    let args: Vec<String> = std::env::args().collect();
    let most =
        args.iter().position(|a| a == "--most").and_then(|i| args.get(i + 1)?.parse().ok()).unwrap_or(10_000usize);
    let mut limits = common::Limits::default();
    for shape in ["straight", "nested", "loops"] {
        let mut before: Option<Vec<(&'static str, f64)>> = None;
        for blocks in [100, 1_000, 10_000].into_iter().filter(|b| *b <= most) {
            let (count, now) = times(shape, blocks)?;
            print!("{shape:<10}{count:>7} blocks");
            for (i, (name, ms)) in now.iter().enumerate() {
                print!("   {name} {ms:.1} ms");
                let Some(known) = before.as_ref().map(|b| b[i].1).filter(|ms| *ms >= LEAST_MS) else { continue };
                print!(" (x{:.1})", ms / known);
                limits.at_most(&format!("{shape}: the growth of {name} for ten times the blocks"), ms / known, LIMIT);
            }
            println!();
            before = Some(now);
        }
    }
    limits.end()
}
