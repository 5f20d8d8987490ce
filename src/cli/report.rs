//! `kassay report`: converts results to other formats.

use std::path::PathBuf;

use clap::Args;

use crate::api;
use crate::error::Result;

/// Convert results to another format, selected by the output file's name
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results that kassay wrote with -o
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// File for the report; its name selects the format, such as coverage.lcov
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Writes the report. Returns the exit code.
///
/// # Errors
/// Those of [`api::report`].
pub fn run(args: &ReportArgs) -> Result<u8> {
    api::report(&args.results, &args.output)?;
    Ok(0)
}
