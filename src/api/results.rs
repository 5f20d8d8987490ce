//! Works on results that were written before: merges shards, converts to other formats.

use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_judge::coverage;
use kassay_judge::mutation::campaign::class_of;
use kassay_judge::mutation::catalogue::operators::OPERATORS;
use kassay_results::report::Format;
use kassay_results::result::any::{AnyResult, KERNEL_COMMANDS};
use kassay_results::result::cover::CoverResult;
use kassay_results::result::gather::Index;
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::set::Failed;
use kassay_results::result::{self, store};

use super::several::{Wanted, expand};

/// Merges the results of all shards of a [`mutate`](super::mutate) run, in any order, into one.
///
/// # Errors
/// `Caller` if a file is no result, the results are not all shards of one run, or another version of kassay with other
/// operators wrote them.
pub fn merge(results: &[impl AsRef<Path>]) -> Result<MutateResult> {
    let load = |path: &Path| store::read(path).map(|result| (path.to_owned(), result));
    let loaded = results.iter().map(|path| load(path.as_ref())).collect::<Result<Vec<_>>>()?;
    for (path, result) in &loaded {
        if let AnyResult::Mutate(set) = result
            && !set.is_set()
        {
            set.kernels.iter().try_for_each(|kernel| check_operators(path, &kernel.result))?;
        }
    }
    result::merge::merge(loaded, &class_of)
}

/// Gathers results of one command into the result of a set, which is written to `output`. `results` are files, or
/// folders that stand for all `*.json` below them; shards of a [`mutate`](super::mutate) run are merged. The results of
/// one kernel at a time are in memory. Returns the kernels without a result, such as those with a shard missing; they
/// are in the set, too.
///
/// # Errors
/// `Caller` if a folder has no result, a file is none, they are of different commands or of one that has no sets, or
/// two are of the same run and no shards of it; `Environment` if a file cannot be read or written.
pub fn merge_set(results: &[impl AsRef<Path>], output: impl AsRef<Path>) -> Result<Vec<Failed>> {
    let output = output.as_ref();
    store::check_writable(output)?;
    let given: Vec<PathBuf> = results.iter().map(|path| path.as_ref().to_owned()).collect();
    let named: Vec<String> = given.iter().map(|path| path.display().to_string()).collect();
    let mut files = expand(&given, Wanted::Results)?;
    // A set that an earlier call wrote into the same folder.
    let itself = output.canonicalize().ok();
    files.retain(|file| itself.is_none() || file.canonicalize().ok() != itself);
    let (index, named) = (Index::of(&files)?, named.join(", "));
    if index.schema == MutateResult::SCHEMA {
        return index.write(&named, output, merge_or_read);
    }
    index.write_whole(&named, output).unwrap_or_else(|| {
        let (last, others) = KERNEL_COMMANDS.split_last().unwrap_or((&"", &[]));
        Err(Error::caller(format!("`{}` results cannot be gathered into a set", index.schema))
            .help(format!("name results of single kernels, of {} or {last}", others.join(", "))))
    })
}

/// Returns the result of one kernel: that of its only file, or of its shards.
fn merge_or_read(results: &[PathBuf]) -> Result<MutateResult> {
    match results {
        [path] => match store::read(path)?.one::<MutateResult>() {
            Ok(result) if result.shard.is_none() => {
                check_operators(path, &result)?;
                Ok(result)
            }
            _ => merge(results),
        },
        _ => merge(results),
    }
}

/// Merges results of [`cover`](super::cover) of one kernel, with other tests or on other devices, into one: what some
/// test covers in one of them is covered. They need not be shards of one run.
///
/// # Errors
/// `Caller` if a file is no result of `kassay cover` (or `kassay tally`), or they are not of the same kernel with the
/// same sites and the same metrics.
pub fn merge_coverage(results: &[impl AsRef<Path>]) -> Result<CoverResult> {
    let load = |path: &Path| match store::read(path)?.one::<CoverResult>() {
        Ok(result) => Ok((path.to_owned(), result)),
        Err(other) => {
            let what = format!("{} is a result of `kassay {}`", path.display(), other.command_line());
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
    kassay_results::report::convert(&results, output.as_ref())
}

/// Converts results to several files, each in the format that stands with it; if one cannot be made, none is written.
///
/// # Errors
/// As [`report`].
pub fn report_to(results: &[impl AsRef<Path>], outputs: &[(&Format, PathBuf)]) -> Result<()> {
    let results: Vec<PathBuf> = results.iter().map(|path| path.as_ref().to_owned()).collect();
    kassay_results::report::convert_to(&results, outputs)
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
fn check_operators(path: &Path, result: &MutateResult) -> Result<()> {
    let mut single = result.mutants.iter().filter(|m| !m.is_pair());
    match single.find(|m| OPERATORS.iter().all(|o| o.id != m.operator)) {
        None => Ok(()),
        Some(m) => Err(Error::caller(format!("{} has mutants of an operator `{}`", path.display(), m.operator))
            .help(format!("merge it with the kassay that wrote it, version {}", result.header.version))),
    }
}
