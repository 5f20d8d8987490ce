//! Checks that no mutant that is called equivalent is ever killed, and that duplicates have the same outcome: on the
//! suites' tests and on random variants of their inputs, which differ in every run; also on kernels whose mutants read
//! uninitialised local memory, since that holds the same in all modules.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kassay::result::mutate::Status;
use kassay_ir::llvm::Context;
use kassay_judge::mutation::build::module_builder::ModuleBuilder;
use kassay_judge::mutation::enumerate;
use kassay_judge::mutation::equivalence::{self, Verdict};
use kassay_judge::mutation::run::engine::{Batching, Engine, Options, Strategy};
use kassay_judge::mutation::run::runner::Scenario;
use kassay_judge::mutation::run::verdict::MutantOutcome;
use kassay_judge::mutation::{Mutant, MutantIndex, Selection};
use kassay_run::exec::{DeviceSelector, Executor, OpenClExecutor, Target};
use kassay_suite::launch::ArgValue;
use kassay_suite::resolve::Test;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::bench::{Bench, TestResult, lasting, mutants as rows, result, same, suite, text};
use crate::common::devices::worker;
use crate::common::kernels::open_suite;
use crate::common::testdata;

/// Returns a test with the suite's elements in another order and other small numbers: mostly in bounds, as the
/// originals are. Guards skip accesses that are not.
fn variant(test: &Test, number: u32, random: &mut ChaCha8Rng) -> Test {
    let mut test = Test { name: format!("{} {number}", test.name), expectations: Vec::new(), ..test.clone() };
    for arg in &mut test.launch.args {
        match arg {
            ArgValue::Buffer(bytes) if bytes.len() % 4 == 0 => {
                let mut elements = bytes.as_chunks::<4>().0.to_vec();
                elements.shuffle(random);
                *bytes = Arc::new(elements.concat());
            }
            ArgValue::Value(bytes) => {
                if let Ok(word) = <[u8; 4]>::try_from(bytes.as_slice()) {
                    let number = u32::from_le_bytes(word);
                    if (1..65536).contains(&number) && random.random_bool(0.5) {
                        *bytes = random.random_range(0..=number).to_le_bytes().to_vec();
                    }
                }
            }
            _ => {}
        }
    }
    test
}

/// Checks all claims about the mutants of a kernel; returns the numbers of equivalents and of duplicates.
fn claims_hold(kernel: &str, random: &mut ChaCha8Rng) -> TestResult<(usize, usize)> {
    let starting = OpenClExecutor::spawn(DeviceSelector::Any, Target::SpirV, worker())?;
    let context = Context::create();
    let mut opened = open_suite(&context, &testdata::suite(kernel))?;
    let selection = Selection::parse("all")?;
    let mutants = enumerate(&opened.kernel.subject(selection.preset()), &selection).mutants;
    let edits: Vec<_> = mutants.iter().map(|m| &m.edit).collect();
    let executor = starting.ready()?;
    let originals = opened.tests.clone();
    opened.tests.extend((1..=3).flat_map(|n| originals.iter().map(|t| variant(t, n, random)).collect::<Vec<_>>()));
    opened.choose_local(executor.device());
    let (under_test, tests) = (&opened.kernel.under_test, &opened.tests);
    let bitcode = under_test.module.write_bitcode_to_memory();
    let verdicts = equivalence::classify(bitcode.as_slice(), &under_test.sites, &under_test.entry, &edits, 2, None)?;

    let mut wanted = Vec::new();
    for (m, verdict) in verdicts.iter().enumerate().filter(|(m, _)| mutants[*m].edit.is_woven()) {
        match verdict {
            Verdict::Distinct => {}
            Verdict::Equivalent { .. } => wanted.push(MutantIndex(m)),
            Verdict::DuplicateOf(other) => wanted.extend([m, *other].map(MutantIndex)),
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let options = Options {
        strategy: Strategy::Schemata,
        repeats: 1,
        full_matrix: true,
        factor: 10.0,
        timeout: Duration::from_secs(60),
        prune: false,
        batching: Batching::Auto,
        end: None,
    };
    let mut engine =
        Engine::new(ModuleBuilder::new(under_test, Target::SpirV), vec![Box::new(executor)], tests, &mutants, options);
    engine.establish_baselines(&wanted, false, &wanted)?;
    assert!(engine.baselines().len() >= tests.len() / 4, "{kernel}: {:?}", engine.dropped);
    let runs = vec![true; engine.baselines().len()];
    let scenarios = wanted.iter().map(|m| Scenario { mutants: vec![*m], tests: runs.clone() }).collect();
    let outcomes = engine.run(scenarios, false, &|_, _| Ok(()))?;
    let outcome_of =
        |m: usize| -> Option<&MutantOutcome> { wanted.binary_search(&MutantIndex(m)).ok().map(|at| &outcomes[at]) };
    let (mut equivalents, mut duplicates) = (0, 0);
    for (m, verdict) in verdicts.iter().enumerate() {
        let (id, Some(own)) = (&mutants[m].id, outcome_of(m)) else { continue };
        let (status, reason) = own.status(true);
        // A claim is about runs in bounds (docs/mutate.md, `equivalent`).
        match verdict {
            Verdict::Equivalent { reason: claim } if status != Status::RuntimeError => {
                assert_eq!(status, Status::Survived, "{id} is called equivalent ({claim}), but {reason:?}");
                equivalents += 1;
            }
            Verdict::DuplicateOf(other) => {
                let other_outcome = outcome_of(*other).ok_or("a duplicate of nothing")?;
                let (other_status, other_reason) = other_outcome.status(true);
                if status == Status::RuntimeError || other_status == Status::RuntimeError {
                    continue;
                }
                assert_eq!(
                    (status, &own.killed_by),
                    (other_status, &other_outcome.killed_by),
                    "{id} is called a duplicate of {}, but {reason:?} and {other_reason:?}",
                    mutants[*other].id
                );
                duplicates += 1;
            }
            _ => {}
        }
    }
    drop(engine);
    proved_late(kernel, &mutants, &verdicts)?;
    eprintln!("{kernel}: {equivalents} equivalents, {duplicates} duplicates, {} tests", tests.len());
    Ok((equivalents, duplicates))
}

/// Checks that `kassay mutate`, which proves only what no test detects, finds the same equivalents and duplicates, and
/// that the solver proves no killed mutant equivalent.
fn proved_late(kernel: &str, mutants: &[Mutant], verdicts: &[Verdict]) -> TestResult {
    let bench = Bench::new()?;
    let args = ["mutate", &suite(kernel), "--quiet", "-o", "result.json"];
    let output = bench.command(&args).env("KASSAY_DOUBT_PROOFS", "1").output()?;
    assert!(matches!(output.status.code(), Some(0 | 1)), "{kernel}: {}", String::from_utf8_lossy(&output.stderr));
    let result = result(&bench.path("result.json"))?;
    let rows: BTreeMap<&str, &Value> = rows(&result).iter().map(|m| (text(m, "id"), m)).collect();
    for (mutant, verdict) in mutants.iter().zip(verdicts) {
        let row = rows.get(mutant.id.as_str()).ok_or("a mutant is missing")?;
        let (equivalent, duplicate) = (text(row, "status") == "equivalent", !row["duplicate_of"].is_null());
        let holds = match verdict {
            Verdict::Distinct => !equivalent && !duplicate,
            // Of two equal edits that are equivalent, the second may also be a duplicate of the first.
            Verdict::Equivalent { .. } => equivalent,
            Verdict::DuplicateOf(_) => duplicate && !equivalent,
        };
        assert!(holds, "{} should be {verdict:?}: {row}", mutant.id);
    }
    Ok(())
}

fn random() -> ChaCha8Rng {
    let given = std::env::var("KASSAY_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let seed: u64 = given.unwrap_or_else(|| {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos().into())
    });
    eprintln!("KASSAY_TEST_SEED={seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

#[test]
fn mutants_called_equivalent_are_never_killed() -> TestResult {
    let mut random = random();
    let kernels = std::env::var("KASSAY_TEST_KERNELS")
        .unwrap_or_else(|_| "double_math switch_machine liu_example atomics_cl20".into());
    let (mut equivalents, mut duplicates) = (0, 0);
    for kernel in kernels.split_whitespace() {
        let (e, d) = claims_hold(kernel, &mut random)?;
        equivalents += e;
        duplicates += d;
    }
    assert!(equivalents > 0 && duplicates > 0, "{equivalents} equivalents, {duplicates} duplicates");
    Ok(())
}

/// Where normal forms take long, mutants run first; the verdicts are the same.
#[test]
fn running_mutants_first_gives_the_same_verdicts() -> TestResult {
    let bench = Bench::new()?;
    let mut duplicates = 0;
    for (kernel, operators) in [("loop_shapes", "all"), ("switch_machine", "all"), ("bitonic_sort", "ROR,SYR")] {
        let forms_first = bench.mutate(&suite(kernel), &["--operators", operators])?;
        let path = bench.path("first.json");
        let path_name = path.to_str().ok_or("no UTF-8")?;
        let args = ["mutate", &suite(kernel), "--quiet", "-o", path_name, "--operators", operators];
        let output = bench.command(&args).env("KASSAY_MOST_BEFORE", "0").output()?;
        assert_eq!(output.status.code(), Some(0), "{kernel}: {}", String::from_utf8_lossy(&output.stderr));
        let runs_first = result(&path)?;
        same(&lasting(&forms_first, &[]), &lasting(&runs_first, &[]), kernel)?;
        assert!(runs_first["timing"]["pairs"].as_u64() > forms_first["timing"]["pairs"].as_u64(), "{kernel}");
        duplicates += runs_first["summary"]["duplicate"].as_u64().unwrap_or_default();
    }
    assert!(duplicates > 50, "{duplicates}");
    Ok(())
}
