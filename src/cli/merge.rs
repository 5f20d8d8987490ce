//! `kassay merge`: merges the results of shards, or coverage by different tests, into one.

use std::path::PathBuf;

use clap::Args;
use kassay_base::error::Result;
use kassay_base::files::OutputLock;
use kassay_results::result::any::AnyResult;
use kassay_results::result::set::Failed;
use kassay_results::result::store;

use super::several::code_of;
use crate::api;

/// Merge the results of all shards of a `mutate` or `compare` run, or of several `cover` runs on one kernel, into one;
/// with `--set`, results of many kernels
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Results of the shards, in any order, or of `cover` runs; with `--set` also folders, which stand for all `*.json`
    /// below them
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// Gather results of one command and of many kernels into one result of a set; shards are merged first
    #[arg(long)]
    pub set: bool,
    /// File for the merged result
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Merges the results and writes the merged one. Returns the exit code.
///
/// # Errors
/// As [`api::merge`], [`api::merge_set`], [`api::merge_comparisons`], [`api::merge_coverage`] and
/// [`store::write`].
pub fn run(args: &MergeArgs) -> Result<u8> {
    store::check_writable(&args.output)?;
    let _claim = OutputLock::of_file(&args.output)?;
    if args.set {
        let failed = api::merge_set(&args.results, &args.output)?;
        for Failed { kernel, error, .. } in &failed {
            eprintln!("kassay: {}: {error}", kernel.as_deref().unwrap_or("a kernel"));
        }
        return Ok(code_of(&failed).unwrap_or(0));
    }
    // The first says what they are; all others are checked against it.
    let first = args.results.first().map(|path| store::read(path)).transpose()?;
    match first {
        Some(AnyResult::Compare(_)) => store::write(&api::merge_comparisons(&args.results)?, &args.output)?,
        Some(AnyResult::Cover(result)) if !result.is_set() => {
            store::write(&api::merge_coverage(&args.results)?, &args.output)?
        }
        _ => store::write(&api::merge(&args.results)?, &args.output)?,
    }
    Ok(0)
}
