//! The corpora of the fuzz targets, all inputs that once were defects, and mutations of both, without libFuzzer.

mod mutated;
#[path = "../../fuzz/src/structured.rs"]
mod structured;
#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

use targets::{TARGETS, Target};

/// The inputs of a target, in order of their names.
fn inputs(kind: &str, target: &Target) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(kind).join(target.name);
    let mut inputs: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    inputs
}

/// Runs the targets on these inputs; panics tell of which file they are.
fn replay(kind: &str, targets: impl Iterator<Item = &'static Target>) -> usize {
    let mut count = 0;
    for target in targets {
        for path in inputs(kind, target) {
            let input = fs::read(&path).unwrap();
            let outcome = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(outcome.is_ok(), "{}: {} panics", target.name, path.display());
            count += 1;
        }
    }
    count
}

#[test]
fn inputs_that_once_were_defects_are_taken() {
    assert!(replay("regressions", TARGETS.iter()) > 0);
}

#[test]
fn corpora_are_taken() {
    assert!(replay("corpus", TARGETS.iter().filter(|target| !target.is_slow)) > 0);
}

#[test]
fn corpora_of_targets_with_processes_are_taken() {
    assert!(replay("corpus", TARGETS.iter().filter(|target| target.is_slow)) > 0);
}

#[test]
fn every_target_has_a_corpus() {
    for target in TARGETS {
        assert!(!inputs("corpus", target).is_empty(), "{} has none", target.name);
    }
    for kind in ["corpus", "regressions"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(kind);
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let name = entry.unwrap().file_name();
            assert!(targets::named(&name.to_string_lossy()).is_some(), "{kind} has {name:?}, which is no target");
        }
    }
}
