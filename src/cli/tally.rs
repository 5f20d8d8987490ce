//! `kassay tally`: makes a coverage result of probe buffers that the user's own program read back.

use std::path::PathBuf;

use clap::Args;

use super::cover::{Threshold, missed};
use super::options::OutputFlags;
use crate::api;
use crate::error::{Error, Result};
use crate::kernel::source::Sources;
use crate::report::text;

/// Make a coverage result of probe buffers that a host program of your own read back
#[derive(Debug, Args)]
pub struct TallyArgs {
    /// The map that `kassay lower --coverage --map` wrote
    pub map: PathBuf,
    /// Files with the contents of probe buffers, one for each launch; each counts as a test
    #[arg(required = true, value_name = "PROBE")]
    pub probes: Vec<PathBuf>,
    /// Exit with 1 if a metric is below its percentage, such as branch=90,loop=50
    #[arg(long, value_name = "METRIC=PERCENT", value_delimiter = ',')]
    pub fail_under: Vec<Threshold>,
    /// Leave the source out of the text
    #[arg(long)]
    pub summary: bool,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Tallies the buffers and delivers the result. Returns the exit code: 1 if a metric is below its threshold.
///
/// # Errors
/// Those of [`api::tally`]; `Caller` if a threshold is of a metric that probe buffers do not tell.
pub fn run(args: &TallyArgs) -> Result<u8> {
    args.output.check()?;
    if let Some(threshold) = args.fail_under.iter().find(|threshold| threshold.needs_counts()) {
        return Err(Error::caller(format!("--fail-under {}: probe buffers hold no counts", threshold.key()))
            .help("`kassay cover --counts` measures it"));
    }
    if let Some(threshold) = args.fail_under.iter().find(|threshold| threshold.needs_vectors()) {
        return Err(Error::caller(format!("--fail-under {}: probe buffers hold no test vectors", threshold.key()))
            .help("`kassay cover --mcdc` measures it"));
    }
    let result = api::tally(&args.map, &args.probes)?;
    let sources = Sources::beside(result.header.source.as_ref());
    args.output.deliver(&result, |style| {
        text::cover(&result, text::CoverOptions { summary_only: args.summary }, &|file| sources.text(file), style)
    })?;
    Ok(u8::from(missed(&args.fail_under, &result.coverage)))
}
