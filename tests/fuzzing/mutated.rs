//! Mutations of the corpora, for a bounded time: what `scripts/fuzz` does, without a build of its own and without
//! guidance.
//!
//! `KASSAY_FUZZ_SECONDS` are the seconds of each target (1), `KASSAY_FUZZ_SEED` chooses other mutations. The input that
//! a target was at is in the folder for temporary files of tests, in case it ends the process.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::inputs;
use crate::structured::structured;
use crate::targets::{Form, TARGETS, Target};

/// The longest input, in bytes.
const MOST: usize = 1 << 16;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

/// Mutates bytes: some change, go, are doubled, or come from another input.
fn mutate_bytes(input: &mut Vec<u8>, other: &[u8], random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..4) {
        let from = random.random_range(0..=input.len());
        let to = (from + random.random_range(0..16)).min(input.len());
        match random.random_range(0..5) {
            0 if from < to => input[from] = random.random(),
            1 if from < to => input[from] ^= 1 << random.random_range(0..8),
            2 => drop(input.drain(from..to)),
            3 => {
                let piece = input[from..to].to_vec();
                input.splice(from..from, piece);
            }
            _ if !other.is_empty() => {
                let start = random.random_range(0..other.len());
                let end = (start + random.random_range(0..64)).min(other.len());
                input.splice(from..to, other[start..end].iter().copied());
            }
            _ => {}
        }
    }
    input.truncate(MOST);
}

/// Runs a target on mutations until the time is over; returns how many there were.
fn fuzz(target: &Target, time: Duration, seed: u64) -> u64 {
    let known: Vec<Vec<u8>> = ["corpus", "regressions"]
        .iter()
        .flat_map(|kind| inputs(kind, target))
        .map(|path| fs::read(path).unwrap())
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzzed-{}", target.name));
    let (started, mut count) = (Instant::now(), 0);
    while started.elapsed() < time {
        let mut input = known.choose(&mut random).cloned().unwrap_or_default();
        for _ in 0..random.random_range(1..6) {
            let well_formed =
                if target.form == Form::Bytes { None } else { structured(target.form, &input, &mut random) };
            match well_formed.filter(|mutated| random.random_bool(0.5) && mutated.len() <= MOST) {
                Some(mutated) => input = mutated,
                None => {
                    let other = known.choose(&mut random).cloned().unwrap_or_default();
                    mutate_bytes(&mut input, &other, &mut random);
                }
            }
        }
        fs::write(&kept, &input).unwrap();
        let outcome = std::panic::catch_unwind(|| (target.run)(&input));
        assert!(outcome.is_ok(), "{}: {} panics", target.name, kept.display());
        count += 1;
    }
    let _ = fs::remove_file(kept);
    count
}

#[test]
fn mutations_are_taken() {
    let time = Duration::from_secs(setting("KASSAY_FUZZ_SECONDS", 1));
    for target in TARGETS {
        let count = fuzz(target, time, setting("KASSAY_FUZZ_SEED", 0));
        println!("{}: {count} mutations", target.name);
        assert!(count > 0 || time.is_zero(), "{}: no input in {time:?}", target.name);
    }
}
