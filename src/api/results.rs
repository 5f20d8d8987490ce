//! Works on results that were written before: merges shards, converts to other formats.

use std::path::{Path, PathBuf};

use crate::coverage;
use crate::error::{Error, Result};
use crate::mutation::campaign::class_of;
use crate::mutation::operators::OPERATORS;
use crate::report::Format;
use crate::result::cover::CoverResult;
use crate::result::mutate::MutateResult;
use crate::result::store::AnyResult;
use crate::result::{self, store};

/// Merges the results of all shards of a [`mutate`](super::mutate) run, in any order, into one.
///
/// # Errors
/// `Caller` if a file is no result, the results are not all shards of one run, or another version of kassay with other
/// operators wrote them.
pub fn merge(results: &[impl AsRef<Path>]) -> Result<MutateResult> {
    let load = |path: &Path| store::read(path).map(|result| (path.to_owned(), result));
    let loaded = results.iter().map(|path| load(path.as_ref())).collect::<Result<Vec<_>>>()?;
    loaded.iter().try_for_each(|(path, result)| check_operators(path, result))?;
    result::merge::merge(loaded, &class_of)
}

/// Merges results of [`cover`](super::cover) of one kernel, with other tests or on other devices, into one: what some test
/// covers in one of them is covered. They need not be shards of one run.
///
/// # Errors
/// `Caller` if a file is no result of `kassay cover` (or `kassay tally`), or they are not of the same kernel with the same
/// sites and the same metrics.
pub fn merge_coverage(results: &[impl AsRef<Path>]) -> Result<CoverResult> {
    let load = |path: &Path| match store::read(path)? {
        AnyResult::Cover(result) => Ok((path.to_owned(), *result)),
        other => {
            let what = format!("{} is a result of `kassay {}`", path.display(), other.command());
            Err(Error::caller(what).help("name results of one command"))
        }
    };
    let mut paths: Vec<&Path> = Vec::new();
    for path in results.iter().map(AsRef::as_ref) {
        if paths.contains(&path) {
            return Err(Error::caller(format!("{} is named twice", path.display())).help("name each result once"));
        }
        paths.push(path);
    }
    coverage::merge::merge(paths.into_iter().map(load).collect::<Result<_>>()?)
}

/// Converts results to the format that the name of `output` ends with, such as `.lcov` or `.sarif`.
///
/// # Errors
/// `Caller` if the format is unknown or a file is no result that it can show; `Environment` if `output` cannot be
/// written.
pub fn report(results: &[impl AsRef<Path>], output: impl AsRef<Path>) -> Result<()> {
    let results: Vec<PathBuf> = results.iter().map(|path| path.as_ref().to_owned()).collect();
    crate::report::convert(&results, output.as_ref())
}

/// Converts results to several files, each in the format that stands with it; if one cannot be made, none is written.
///
/// # Errors
/// Those of [`report`].
pub fn report_to(results: &[impl AsRef<Path>], outputs: &[(&Format, PathBuf)]) -> Result<()> {
    let results: Vec<PathBuf> = results.iter().map(|path| path.as_ref().to_owned()).collect();
    crate::report::convert_to(&results, outputs)
}

/// Converts results to a text in a format.
///
/// # Errors
/// `Caller` if a file is no result that the format can show.
pub fn report_text(results: &[impl AsRef<Path>], format: &Format) -> Result<String> {
    let results: Vec<PathBuf> = results.iter().map(|path| path.as_ref().to_owned()).collect();
    format.render(&results)
}

/// Rejects a result with operators that this version does not have, because their classes are unknown.
fn check_operators(path: &Path, result: &AnyResult) -> Result<()> {
    let AnyResult::Mutate(result) = result else { return Ok(()) };
    let mut single = result.mutants.iter().filter(|m| !m.is_pair());
    match single.find(|m| OPERATORS.iter().all(|o| o.id != m.operator)) {
        None => Ok(()),
        Some(m) => Err(Error::caller(format!("{} has mutants of an operator `{}`", path.display(), m.operator))
            .help(format!("merge it with the kassay that wrote it, version {}", result.header.version))),
    }
}
