//! Reads the result of an earlier mutation run, with which a run is compared.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_results::report::text::change;
use kassay_results::result::any::AnyResult;
use kassay_results::result::mutate::{Comparison, MutateResult, NewSurvivor};
use kassay_results::result::new_survivors::new_survivors;
use kassay_results::result::set::MutateSet;
use kassay_results::result::store;
use serde::{Deserialize, Serialize};

use super::opened::Opened;

/// Results of an earlier mutation run: of one kernel, of several, or those in a result of `kassay ci`.
#[derive(Clone, Serialize, Deserialize)]
pub struct Baseline {
    #[serde(with = "kassay_base::files::paths")]
    file: PathBuf,
    /// A hash of the file's contents.
    contents: u64,
    /// Each with its suite, as far as the file tells.
    results: Vec<(Option<PathBuf>, Arc<MutateResult>)>,
    is_set: bool,
}

/// Writes the file and the hash of its contents, by which two baselines are told apart.
impl fmt::Debug for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:016x}", self.file.display(), self.contents)
    }
}

impl Baseline {
    /// Reads a result of `kassay mutate`, of one kernel or of several, or of `kassay ci`.
    ///
    /// # Errors
    /// `Caller` if it is none, or has no mutants; `Environment` if it cannot be read.
    pub fn read(file: impl AsRef<Path>) -> Result<Baseline> {
        let file = file.as_ref();
        let help = "name a result of `kassay mutate -o`, or of a `kassay ci -o` that makes mutants";
        let wrong = |what: String| Error::caller(format!("{} {what}", file.display())).help(help);
        let of_set = |set: MutateSet| {
            let suite = |suite: Option<String>| suite.map(PathBuf::from);
            set.kernels.into_iter().map(|kernel| (suite(kernel.suite), Arc::new(kernel.result))).collect()
        };
        let result = store::read(file)?;
        let contents = hash::of(std::fs::read(file).unwrap_or_default());
        let (results, is_set): (Vec<_>, bool) = match result {
            AnyResult::Mutate(set) if set.program.is_some() => {
                return Err(wrong("is about the kernels of a host program, not about suites".to_owned()));
            }
            AnyResult::Mutate(set) => {
                let is_set = set.is_set();
                (of_set(*set), is_set)
            }
            AnyResult::Ci(result) => match result.mutate {
                Some(set) => (of_set(set), true),
                None => return Err(wrong("has no mutants".to_owned())),
            },
            other => return Err(wrong(format!("is a result of `kassay {}`, not of mutants", other.command()))),
        };
        if let Some((_, sharded)) = results.iter().find(|(_, result)| result.shard.is_some()) {
            let shard = sharded.shard.clone().unwrap_or_default();
            return Err(wrong(format!("has only the shard {shard} of the mutants")))
                .map_err(|e| e.help("merge the shards with `kassay merge`, and name the merged result"));
        }
        Ok(Baseline { file: file.to_owned(), contents, results, is_set })
    }

    /// Returns the result of the same kernel and suite; none if a baseline of several does not have it.
    ///
    /// # Errors
    /// `Caller` if the baseline is of one kernel, and of another.
    pub(super) fn of(&self, opened: &Opened) -> Result<Option<Arc<MutateResult>>> {
        let is_kernel = |result: &MutateResult| result.header.kernel == opened.entry();
        if !self.is_set {
            return match &self.results[..] {
                [(_, only)] if is_kernel(only) => Ok(Some(only.clone())),
                [(_, other), ..] => {
                    let what = format!(
                        "{} is a result of the kernel `{}`, not of `{}`",
                        self.file.display(),
                        other.header.kernel,
                        opened.entry()
                    );
                    Err(Error::caller(what)
                        .help("name a result of the same kernel, or of several with this one among them"))
                }
                [] => Ok(None),
            };
        }
        let candidates: HashMap<PathBuf, &Arc<MutateResult>> = self
            .results
            .iter()
            .filter(|(_, result)| is_kernel(result))
            .filter_map(|(suite, result)| Some((plain(suite.as_deref()?), result)))
            .collect();
        let suite = opened.suite_file().map(plain).unwrap_or_default();
        // As it was written then, or by another path that leads to it.
        let same_file = || {
            let wanted = suite.canonicalize().ok()?;
            candidates.iter().find(|(path, _)| path.canonicalize().is_ok_and(|path| path == wanted)).map(|(_, one)| one)
        };
        Ok(candidates.get(&suite).or_else(same_file).map(|result| Arc::clone(result)))
    }

    /// Writes into a result how it compares with that of the same kernel in the baseline.
    pub(super) fn compare(&self, before: Option<&MutateResult>, result: &mut MutateResult) {
        let of_campaign = result.baseline.take().unwrap_or_default();
        let no_result = || "the baseline has no result of this kernel and suite".to_owned();
        let of_parts = || "the tests have different values of specialisation constants".to_owned();
        let why_not = match before {
            None => Some(no_result()),
            Some(_) if result.basis.is_none() => Some(of_parts()),
            Some(_) => of_campaign.why_not,
        };
        let taken_over =
            result.mutants.iter().filter(|mutant| mutant.taken_over && mutant.duplicate_of.is_none()).count();
        result.baseline = Some(Comparison {
            file: self.file.display().to_string(),
            taken_over: taken_over as u64,
            why_not,
            new_survivors: new_survivors(before.map_or(&[], |before| &before.mutants), &result.mutants),
        });
    }
}

/// Returns a path without `./`.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect()
}

/// Says how many mutants of a kernel survive that did not in the baseline, and where they are; nothing if there are
/// none.
pub(super) fn of_new_survivors(result: &MutateResult) -> Option<String> {
    let new = result.baseline.as_ref().map(|baseline| baseline.new_survivors.as_slice()).unwrap_or_default();
    if new.is_empty() {
        return None;
    }
    let place = |new: &NewSurvivor| {
        let mutant = result.mutants.iter().find(|mutant| mutant.id == new.id)?;
        let (at, change) = (&mutant.location, change(mutant));
        Some(match at.start.line {
            0 => format!("{}: {change}", mutant.id),
            _ => format!("{}:{}: {} {change}", at.file, at.start, mutant.operator),
        })
    };
    let places: Vec<String> = new.iter().filter_map(place).collect();
    let what = match new.len() {
        1 => "1 mutant survives that the baseline does not have or that was detected there".to_owned(),
        n => format!("{n} mutants survive that the baseline does not have or that were detected there"),
    };
    Some(format!("{what}: {}", places.join("; ")))
}
