//! The program that libFuzzer drives: one for all targets, of which `KASSAY_FUZZ_TARGET` names one. `scripts/fuzz`
//! builds and runs it.

#![no_main]

mod limits;
mod mutator;
mod structured;
mod targets;

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

use crate::limits::Limited;
use crate::targets::{TARGETS, Target};

#[global_allocator]
static ALLOCATOR: Limited = Limited;

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("KASSAY_FUZZ_TARGET").unwrap_or_default();
    targets::named(&name).unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("KASSAY_FUZZ_TARGET names no target; there are: {}", names.join(" "));
        std::process::exit(2);
    })
});

fuzz_target!(init: {
    limits::ignore_closed_sockets();
    // `--list` prints the targets, those that take processes of their own with a `+`.
    if std::env::args().any(|argument| argument == "--list") {
        for target in TARGETS {
            println!("{}{}", target.name, if target.is_slow { " +" } else { "" });
        }
        std::process::exit(0);
    }
    LazyLock::force(&TARGET);
}, |input: &[u8]| {
    (TARGET.run)(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutator::mutate(TARGET.form, data, size, max_size, seed)
});
