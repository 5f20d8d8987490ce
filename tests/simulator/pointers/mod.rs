//! Runs random programs of pointers ([`program`]) on the simulator: each access out of bounds of a private variable has
//! to be found, with its line, and nothing else; what the programs compute has to be right; and kassay has to live.
//!
//! The test runs a few; `KASSAY_POINTERS=100000` (of programs) runs more, from the kernel `KASSAY_POINTERS_FROM` on.

mod program;

use std::collections::BTreeSet;
use std::time::Instant;

use kassay_suite::launch::ArgValue;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use self::program::{Features, Input, Program};
use crate::access_weave::support::{Hooked, ints, output, value};

/// Programs of a kernel, launches of a program, work-items of a launch.
const PROGRAMS: u64 = 25;
const LAUNCHES: usize = 3;
const ITEMS: i32 = 3;

/// The number of programs in an ordinary run of the tests.
const FEW: u64 = 200;

const HEAD: &str = "struct cells { int *p[3]; long unused; };
struct four { int x[4]; };
union both { int *p; ulong n; };
int *one_of(int *p, int *q, int a, long n) { int *r = a > 3 ? p : q; return r + n; }
void exchange(int **p, int **q) { int *r = *p; *p = *q; *q = r; }
";

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Returns the text of a kernel of these programs, and the line of each.
fn kernel(programs: &[Program]) -> (String, Vec<u32>) {
    let mut text = HEAD.to_owned();
    let mut lines = Vec::new();
    for (i, program) in programs.iter().enumerate() {
        lines.push(text.matches('\n').count() as u32 + 1);
        program.text(&format!("program{i}"), &mut text);
    }
    text.push_str(
        "kernel void k(global int *out, int which, int a, int b, long c) {\nint sum = 0;\nswitch (which) {\n",
    );
    for i in 0..programs.len() {
        text.push_str(&format!("case {i}: sum = program{i}(a, b, c); break;\n"));
    }
    text.push_str("}\nout[get_global_id(0)] = sum;\n}\n");
    (text, lines)
}

/// Runs the kernel of this seed; returns what is wrong.
fn wrong(seed: u64) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let features = Features::random(&mut random);
    let programs: Vec<Program> = (0..PROGRAMS).map(|i| Program::random(seed * PROGRAMS + i, features)).collect();
    let (text, lines) = kernel(&programs);
    let races = seed % 4 == 3;
    let hooked = if seed % 8 < 2 { Hooked::new(&text, "CL1.2", races) } else { Hooked::quickly(&text, "CL1.2", races) };
    let mut simulator = hooked.loaded();
    let mut wrong = Vec::new();
    for (i, program) in programs.iter().enumerate() {
        for _ in 0..LAUNCHES {
            let input = Input::random(&mut random);
            let outcomes: Vec<_> = (0..ITEMS).map(|item| program.run(input, item)).collect();
            let args = [
                ints(vec![0; ITEMS as usize]),
                value(i as i32),
                value(input.a),
                value(input.b),
                ArgValue::Value(input.c.to_le_bytes().to_vec()),
            ];
            let seen = simulator.run([ITEMS as u64; 2], &args);
            let expected: BTreeSet<u32> = outcomes.iter().flat_map(|outcome| outcome.faults.clone()).collect();
            let found: BTreeSet<u32> =
                seen.faults.iter().map(|fault| hooked.line(fault, "program") - lines[i]).collect();
            let sums: Vec<i32> = outcomes.iter().map(|outcome| outcome.sum).collect();
            if found != expected || output(&seen, 0) != sums || !seen.completed {
                wrong.push(format!(
                    "kernel {seed}, program {i}, {input:?}: faults at {found:?}, not {expected:?} (line {} is 0); results {:?}, not {sums:?}",
                    lines[i],
                    output(&seen, 0)
                ));
            }
        }
    }
    if !wrong.is_empty() && number("KASSAY_POINTERS").is_some() {
        wrong.push(text);
    }
    wrong
}

#[test]
fn every_overrun_of_random_pointers_is_found_and_nothing_else() {
    let (first, many) = (number("KASSAY_POINTERS_FROM").unwrap_or(0), number("KASSAY_POINTERS"));
    let kernels = many.unwrap_or(FEW).div_ceil(PROGRAMS);
    let (mut failed, start) = (Vec::new(), Instant::now());
    for seed in first..first + kernels {
        let wrong = wrong(seed);
        if !wrong.is_empty() {
            println!("{}", wrong.join("\n"));
            failed.push(seed);
        }
        if many.is_some() && (seed + 1 - first) % 40 == 0 {
            let programs = (seed + 1 - first) * PROGRAMS;
            println!("{programs} programs in {:.0?}, kernels that failed: {failed:?}", start.elapsed());
        }
    }
    assert!(failed.is_empty(), "of the kernels {failed:?} some programs are judged wrongly");
}
