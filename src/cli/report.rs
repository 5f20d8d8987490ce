//! `kassay report`: results in other formats.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::report;

/// Turn results into another format, by the output file's name
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results that kassay wrote with -o
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// The report; its name says the format, such as coverage.lcov
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
}

pub fn run(args: &ReportArgs) -> Result<u8> {
    report::convert(&args.results, &args.output)?;
    Ok(0)
}
