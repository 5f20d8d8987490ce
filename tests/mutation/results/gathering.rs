//! Checks that results of many kernels are gathered into the result of a set.

use std::path::{Path, PathBuf};

use kassay::result::mutate::*;
use kassay::result::mutate_summary::finish;
use kassay::result::set::{Fault, MutateSet};
use kassay::result::shard::Shard;
use kassay::result::store;
use kassay_base::error::Error;
use serde_json::{Value, json};

use super::random::{class_of, mutant, result};
use crate::common::program::{at, kassay, read, valid};

/// Writes a result, or shards of it, of a kernel with this name.
fn kernel(folder: &Path, name: &str, statuses: &[Status], shards: u32) -> MutateResult {
    let mutants = statuses.iter().enumerate().map(|(n, status)| mutant(&format!("{name}{n}"), *status)).collect();
    let mut whole = result(mutants, 1);
    whole.header.kernel = name.to_owned();
    finish(&mut whole, &class_of);
    std::fs::create_dir_all(folder.join(name)).unwrap();
    if shards == 0 {
        store::write(&whole, &folder.join(name).join("whole.json")).unwrap();
    }
    for number in 1..=shards {
        let shard = Shard::new(number, shards).unwrap();
        let mut part = whole.clone();
        part.shard = Some(shard.to_string());
        for mutant in part.mutants.iter_mut().filter(|mutant| !shard.owns_mutant(mutant)) {
            *mutant = Mutant { status: Status::Pending, killed_by: [].into(), covered_by: [].into(), ..mutant.clone() };
        }
        finish(&mut part, &class_of);
        store::write(&part, &folder.join(name).join(format!("{number}.json"))).unwrap();
    }
    whole
}

fn gather(results: &[PathBuf], output: &Path) -> (String, i32) {
    let ended = kassay().args(["merge", "--set", "-o"]).arg(output).args(results).output().unwrap();
    (String::from_utf8_lossy(&ended.stderr).into_owned(), ended.status.code().unwrap())
}

#[test]
fn a_folder_of_shards_and_whole_results_becomes_a_set() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("all.json");
    let (killed, survived) = (Status::Killed, Status::Survived);
    let kernels = [
        kernel(folder.path(), "a", &[killed, survived, killed], 3),
        kernel(folder.path(), "b", &[survived], 0),
        kernel(folder.path(), "c", &[killed, Status::NoCoverage, killed, killed], 2),
    ];
    // Twice: the second call finds the result of the first in the folder.
    for _ in 0..2 {
        let (err, code) = gather(&[folder.path().to_owned()], &output);
        assert_eq!((err.as_str(), code), ("", 0));
    }
    let text = read(&output).unwrap();
    valid(&text, "mutate-set.schema.json").unwrap();
    let set: MutateSet = serde_json::from_value(text).unwrap();
    assert_eq!((set.header.kernel.as_str(), set.failed.len(), set.header.seed), ("a, b, c", 0, 7));
    let whole = Summary::of(kernels.iter().flat_map(|kernel| &kernel.mutants));
    assert_eq!((set.total.total, set.total), (8, whole));
    for (gathered, whole) in set.kernels.iter().zip(&kernels) {
        assert_eq!((&gathered.result.mutants, gathered.result.summary), (&whole.mutants, whole.summary));
        assert_eq!(gathered.result.shard, None);
    }
}

#[test]
fn a_kernel_with_a_shard_missing_is_named_and_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("all.json");
    kernel(folder.path(), "a", &[Status::Killed, Status::Survived], 2);
    kernel(folder.path(), "b", &[Status::Killed], 0);
    std::fs::remove_file(folder.path().join("a/2.json")).unwrap();
    let (err, code) = gather(&[folder.path().join("a"), folder.path().join("b")], &output);
    assert_eq!(code, 2);
    assert!(err.contains("kassay: a: shard 2/2 missing"), "{err}");
    let set: MutateSet = serde_json::from_value(read(&output).unwrap()).unwrap();
    assert_eq!((set.kernels.len(), set.total.total, set.total.killed), (1, 1, 1));
    assert_eq!((set.failed[0].kernel.as_deref(), set.failed[0].fault), (Some("a"), Some(Fault::Caller)));
}

#[test]
fn what_is_no_set_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (inner, output) = (folder.path().join("in"), folder.path().join("all.json"));
    let refused = |results: &[PathBuf], why: &str| {
        let (err, code) = gather(results, &output);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(why) && err.contains("help:"), "{err}");
        assert!(!output.exists());
    };
    std::fs::create_dir(&inner).unwrap();
    refused(std::slice::from_ref(&inner), "there are no results (.json) below");
    kernel(&inner, "a", &[Status::Killed], 0);
    let one = inner.join("a/whole.json");
    std::fs::copy(&one, inner.join("a/again.json")).unwrap();
    refused(std::slice::from_ref(&inner), "are results of the same run");
    let write = |name: &str, value: &Value| {
        let path = inner.join(name);
        std::fs::write(&path, value.to_string()).unwrap();
        path
    };
    let other = write("other.json", &json!({ "schema": "kassay.run/1", "elapsed_s": 0 }));
    refused(&[one.clone(), other], "is a `kassay.mutate/1` result, and");
    refused(&[write("none.json", &json!({}))], "this is not a valid result of kassay");
    refused(&[write("devices.json", &json!({ "schema": "kassay.devices/1" }))], "cannot be gathered into a set");
    refused(&[one.clone(), inner.join("gone.json")], "cannot read");
}

#[test]
fn the_library_gathers_too() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("all.json");
    kernel(folder.path(), "a", &[Status::Killed], 2);
    assert_eq!(kassay::merge_set(&[folder.path()], &output), Ok(Vec::new()));
    assert!(matches!(kassay::merge_set(&[folder.path()], folder.path()), Err(Error::Caller(_))));
    assert!(read(&output).unwrap()["kernels"][0]["summary"]["killed"] == 1, "{}", at(&output));
}
