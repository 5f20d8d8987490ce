//! `kassay merge`: merges the results of shards into one.

use std::path::{Path, PathBuf};

use clap::Args;

use super::options::check_writable;
use crate::error::{Error, Result};
use crate::mutation::campaign::class_of;
use crate::mutation::operators::OPERATORS;
use crate::result::store::AnyResult;
use crate::result::{merge, store};

/// Merge the results of all shards of a `mutate` run into one
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Results of the shards, in any order
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// File for the merged result
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Merges the results and writes the merged one. Returns the exit code.
///
/// # Errors
/// Those of [`store::read`], [`merge::merge`] and [`store::write`].
pub fn run(args: &MergeArgs) -> Result<u8> {
    check_writable(&args.output)?;
    let loaded = args
        .results
        .iter()
        .map(|path| store::read(path).map(|result| (path.clone(), result)))
        .collect::<Result<Vec<_>>>()?;
    loaded.iter().try_for_each(|(path, result)| known_operators(path, result))?;
    store::write(&merge::merge(loaded, &class_of)?, &args.output)?;
    Ok(0)
}

/// Rejects a result with operators that this version does not have, because their classes are unknown.
fn known_operators(path: &Path, result: &AnyResult) -> Result<()> {
    let AnyResult::Mutate(result) = result else { return Ok(()) };
    let mut single = result.mutants.iter().filter(|m| !m.is_pair());
    match single.find(|m| OPERATORS.iter().all(|o| o.id != m.operator)) {
        None => Ok(()),
        Some(m) => Err(Error::caller(format!("{} has mutants of an operator `{}`", path.display(), m.operator))
            .help(format!("merge it with the kassay that wrote it, version {}", result.header.version))),
    }
}
