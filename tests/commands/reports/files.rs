//! Checks results as files: written, read back, converted; and their published schemas.

use std::fs;
use std::path::{Path, PathBuf};

use kassay::result::any::{AnyResult, OfKernel};
use kassay::result::cover::CoverResult;
use kassay::result::mutate::MutateResult;
use kassay::result::run::RunResult;
use kassay::result::schema;
use kassay::result::set::SetResult;
use kassay::result::store;
use kassay_base::error::{Error, Place};
use kassay_results::report::{self, lcov};

use super::examples::*;
use super::mutation::mutate_result;
use crate::common::stored::expect_file;

#[test]
fn convert_goes_by_the_output_name() {
    let dir = tempfile::tempdir().unwrap();
    let (cover, run) = (dir.path().join("cover.json"), dir.path().join("run.json"));
    store::write(&cover_result(), &cover).unwrap();
    store::write(&run_result(), &run).unwrap();

    let out = dir.path().join("all.lcov");
    report::convert(std::slice::from_ref(&cover), &out).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), lcov::tracefile(&[&cover_result()]));

    let message = |results: &[PathBuf], name: &str| {
        let error = report::convert(results, &dir.path().join(name)).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(!dir.path().join(name).exists());
        error.to_string()
    };
    assert!(message(std::slice::from_ref(&run), "x.cobertura.xml").contains("name results of `kassay cover`"));
    assert!(message(std::slice::from_ref(&cover), "x.pdf").contains("`.lcov`"));
    assert!(message(&[], "y.info").contains("no result"));
    assert!(message(&[cover, run], "y.info").contains("result of `kassay run`"));
}

#[test]
fn results_come_back_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.json");
    store::write(&counted_result(), &path).unwrap();
    assert_eq!(store::read(&path).unwrap(), CoverResult::any(SetResult::of_one(counted_result())));
    store::write(&run_result(), &path).unwrap();
    assert_eq!(store::read(&path).unwrap(), RunResult::any(SetResult::of_one(run_result())));
    store::write(&mutate_result(), &path).unwrap();
    assert_eq!(store::read(&path).unwrap(), MutateResult::any(SetResult::of_one(mutate_result())));
    store::write(&inspect_result(), &path).unwrap();
    assert_eq!(store::read(&path).unwrap(), AnyResult::Inspect(Box::new(inspect_result())));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file was left");
}

#[test]
fn a_link_to_a_result_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file.json"), dir.path().join("link.json"));
    store::write_text("old", &file).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    store::write_text("new", &link).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_result_that_cannot_be_written_says_whose_fault_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let missing = store::write_text("x", &dir.path().join("no/such/r.json")).unwrap_err();
    assert!(matches!(missing, Error::Caller(_)) && missing.to_string().contains("mkdir -p"), "{missing}");
    assert!(matches!(store::write_text("x", dir.path()), Err(Error::Caller(_))));
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(matches!(store::write_text("x", &dir.path().join("file/r.json")), Err(Error::Caller(_))));
    // A device that is always full.
    let full = store::write_text("x", Path::new("/dev/full")).unwrap_err();
    assert!(matches!(full, Error::Environment(_)) && full.to_string().contains("help: free some space"), "{full}");
}

#[test]
fn files_that_are_not_results_are_refused() {
    let refuse = |text: &str, needle: &str| {
        let error = store::parse(text, Path::new("r.json")).unwrap_err();
        assert!(matches!(error, Error::Caller(_)));
        assert!(error.to_string().contains(needle), "{error}");
        error
    };
    refuse("{\"schema\": \"kassay.cover/2\"}", "newer kassay");
    refuse("{\"schema\": \"kassay.tea/1\"}", "unknown schema `kassay.tea/1`");
    refuse("{}", "no `schema`");
    refuse("[1]", "not a result");
    refuse("{\"schema\": \"kassay.run/1\"}", "missing field `elapsed_s`");
    let broken = refuse("{\n  \"schema\": oops\n}", "r.json:2:");
    assert!(matches!(&broken.report().place, Some(Place { text: Some(line), .. }) if line.contains("oops")));
    assert!(matches!(store::read(Path::new("/no/such/result.json")), Err(Error::Caller(_))));
}

#[test]
fn published_schemas_are_current() {
    for (name, schema) in schema::schemas() {
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        expect_file(&format!("docs/schema/{name}"), &text);
    }
}
