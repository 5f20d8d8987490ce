//! Checks shards of a result and their merge.

use std::path::PathBuf;

use kassay::result::Device;
use kassay::result::Header;
use kassay::result::any::{AnyResult, OfKernel};
use kassay::result::merge::merge;
use kassay::result::mutate::*;
use kassay::result::mutate_summary::finish;
use kassay::result::set::SetResult;
use kassay::result::shard::Shard;
use kassay::result::store;
use kassay_base::error::Error;
use proptest::prelude::*;

use super::random::{class_of, mutant, result, whole};
use crate::common::program::kassay;

/// Returns the result that the run of one shard would have given: mutants of other shards are pending, and the shard
/// may or may not know which of them are duplicates.
fn shard(whole: &MutateResult, shard: Shard, knows_duplicates: bool) -> MutateResult {
    let mut part = whole.clone();
    part.shard = Some(shard.to_string());
    part.elapsed_s = f64::from(shard.number());
    part.header.device = Some(Device {
        name: format!("device {}", shard.number() % 2),
        driver: "1".into(),
        kind: "cpu".into(),
        il_versions: vec!["SPIR-V_1.2".into()],
    });
    part.timing.pairs = u64::from(shard.number());
    part.timing.module_sizes = vec![u64::from(shard.number())];
    for mutant in part.mutants.iter_mut().filter(|m| !shard.owns_mutant(m)) {
        mutant.status = Status::Pending;
        mutant.killed_by = [].into();
        mutant.covered_by = [].into();
        mutant.reason = None;
        if !knows_duplicates {
            mutant.duplicate_of = None;
        }
    }
    finish(&mut part, &class_of);
    part
}

fn shards(whole: &MutateResult, of: u32) -> Vec<(PathBuf, AnyResult)> {
    let part = |k| {
        let part = shard(whole, Shard::new(k, of).unwrap(), true);
        (PathBuf::from(format!("{k}.json")), MutateResult::any(SetResult::of_one(part)))
    };
    (1..=of).map(part).collect()
}

proptest! {
    #[test]
    fn merged_shards_equal_the_whole_run(whole in whole(), of in 1..6_u32, turn in 0..6_usize, knows in any::<bool>()) {
        let mut parts: Vec<(PathBuf, AnyResult)> = (1..=of)
            .map(|k| {
                // Written as text and parsed again, as from a file.
                let part = shard(&whole, Shard::new(k, of).unwrap(), knows);
                let path = PathBuf::from(format!("{k}.json"));
                (path.clone(), store::parse(&serde_json::to_string(&part).unwrap(), &path).unwrap())
            })
            .collect();
        parts.rotate_left(turn % of as usize);
        let merged = merge(parts, &class_of).unwrap();
        prop_assert_eq!(merged.elapsed_s, f64::from(of * (of + 1) / 2));
        prop_assert_eq!(merged.timing.pairs, u64::from(of * (of + 1) / 2));
        prop_assert_eq!(&merged.timing.module_sizes, &(1..=u64::from(of)).collect::<Vec<_>>());
        let device = merged.header.device.clone().unwrap();
        prop_assert_eq!(device.name, if of == 1 { "device 1" } else { "device 1; device 0" });
        let header = Header { device: None, ..merged.header.clone() };
        let same = MutateResult { header, elapsed_s: whole.elapsed_s, timing: Timing::default(), ..merged };
        prop_assert_eq!(same, whole);
    }
}

fn refused(parts: Vec<(PathBuf, AnyResult)>) -> String {
    let error = merge(parts, &class_of).unwrap_err();
    assert!(matches!(error, Error::Caller(_)), "{error}");
    error.to_string()
}

fn three() -> Vec<(PathBuf, AnyResult)> {
    shards(&result(vec![mutant("a", Status::Killed), mutant("b", Status::Survived)], 1), 3)
}

/// Returns the result in a part, to change it.
fn of(part: &mut (PathBuf, AnyResult)) -> &mut MutateResult {
    match &mut part.1 {
        AnyResult::Mutate(set) => &mut set.kernels[0].result,
        other => panic!("a result of {}", other.command()),
    }
}

#[test]
fn results_that_are_not_all_shards_of_one_run_are_refused() {
    assert!(merge(three(), &class_of).is_ok());
    assert!(refused(vec![]).contains("no result"));
    assert!(refused(three().split_off(1)).contains("shard 1/3 missing"));
    assert!(refused(three().drain(..1).collect()).contains("shards 2/3, 3/3 missing"));
    let mut twice = three();
    twice[2] = twice[1].clone();
    assert!(refused(twice).contains("2.json and 2.json are both of shard 2/3"));

    let change = |change: fn(&mut MutateResult)| {
        let mut parts = three();
        change(of(&mut parts[1]));
        refused(parts)
    };
    let text = change(|r| r.configuration = "beef".into());
    assert!(text.contains("their configurations are `00ff` and `beef`"), "{text}");
    assert!(change(|r| r.header.kernel = "g".into()).contains("their kernels are `f` and `g`"));
    assert!(change(|r| r.header.seed = 8).contains("their seeds are 7 and 8"));
    assert!(change(|r| r.shard = Some("2/4".into())).contains("numbers of shards are 3 and 4"));
    assert!(change(|r| r.shard = Some("4/3".into())).contains("the shard `4/3` is not a shard"));
    assert!(change(|r| r.shard = None).contains("of a whole run"));
    assert!(change(|r| r.mutants.truncate(1)).contains("do not list the same mutants"));
    assert!(change(|r| r.tests[0].name = "x".into()).contains("do not list the same tests"));
    assert!(change(|r| r.header.version = "9".into()).contains("versions of kassay"));

    let inspect = r#"{"schema": "kassay.inspect/1", "version": "", "kernel": "", "source": "", "device": null,
                      "seed": 0, "elapsed_s": 0, "kernels": [], "notes": []}"#;
    let mut parts = three();
    parts[0].1 = store::parse(inspect, &PathBuf::from("i.json")).unwrap();
    assert!(refused(parts).contains("`kassay inspect`: only mutate results have shards"));
}

#[test]
fn a_test_that_one_shard_dropped_is_dropped_and_named() {
    let mut parts = three();
    let test = &mut of(&mut parts[1]).tests[0];
    test.status = TestStatus::Dropped;
    test.reason = Some("its outputs differ between two runs of the original".into());
    let merged = merge(parts, &class_of).unwrap();
    assert_eq!(merged.tests[0].status, TestStatus::Dropped);
    assert!(merged.notes.iter().any(|n| n.contains("`even`") && n.contains("1/3, 3/3")), "{:?}", merged.notes);
}

#[test]
fn the_command_merges_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = kassay();
    command.arg("merge").arg("-o").arg(dir.path().join("all.json"));
    for (name, part) in three() {
        let part: MutateResult = part.one().unwrap();
        store::write(&part, &dir.path().join(&name)).unwrap();
        command.arg(dir.path().join(&name));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let merged: MutateResult = store::read(&dir.path().join("all.json")).unwrap().one().unwrap();
    assert_eq!((merged.summary.total, merged.summary.killed, merged.shard), (2, 1, None));

    let mut again = kassay();
    again.arg("merge").arg(dir.path().join("1.json")).arg("-o").arg(dir.path().join("part.json"));
    let output = again.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!dir.path().join("part.json").exists());
}

#[test]
fn an_unknown_operator_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = kassay();
    command.arg("merge").arg("-o").arg(dir.path().join("all.json"));
    for (name, part) in three() {
        let mut part: MutateResult = part.one().unwrap();
        part.mutants[0].operator = "XYZ".into();
        store::write(&part, &dir.path().join(&name)).unwrap();
        command.arg(dir.path().join(&name));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("an operator `XYZ`"), "{output:?}");
    assert!(!dir.path().join("all.json").exists());
}
