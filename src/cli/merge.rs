//! `kassay merge`: merges the results of shards, or coverage by different tests, into one.

use std::path::PathBuf;

use clap::Args;

use crate::api;
use crate::error::Result;
use crate::files::OutputLock;
use crate::result::store::{self, AnyResult};

/// Merge the results of all shards of a `mutate` or `compare` run, or of several `cover` runs on one kernel, into one
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Results of the shards, in any order, or of `cover` runs
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// File for the merged result
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Merges the results and writes the merged one. Returns the exit code.
///
/// # Errors
/// Those of [`api::merge`], [`api::merge_comparisons`], [`api::merge_coverage`] and [`store::write`].
pub fn run(args: &MergeArgs) -> Result<u8> {
    store::check_writable(&args.output)?;
    let _claim = OutputLock::of_file(&args.output)?;
    // The first says what they are; all others are checked against it.
    let first = args.results.first().map(|path| store::read(path)).transpose()?;
    match first {
        Some(AnyResult::Compare(_)) => store::write(&api::merge_comparisons(&args.results)?, &args.output)?,
        Some(AnyResult::Cover(_)) => store::write(&api::merge_coverage(&args.results)?, &args.output)?,
        _ => store::write(&api::merge(&args.results)?, &args.output)?,
    }
    Ok(0)
}
