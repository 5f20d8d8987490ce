//! `kassay report`: converts results to other formats.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use kassay_base::error::{Error, Result};
use kassay_base::files::OutputLock;
use kassay_results::report::Format;
use kassay_results::result::store;

use super::options::print;
use super::sandbox;
use crate::api;

/// Convert results to other formats, for people, editors and continuous integration
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results that kassay wrote with -o
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// File for the report; its name selects the format, such as coverage.lcov; repeatable
    #[arg(short = 'o', long, value_name = "FILE", required_unless_present = "format")]
    pub output: Vec<PathBuf>,
    /// The format, whatever the name of the file; without -o the report is printed
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::names()))]
    pub format: Option<String>,
}

/// Writes or prints the report. Returns the exit code.
///
/// # Errors
/// As [`api::report_to`] and [`api::report_text`]; `Caller` if `--format` is given for several files.
pub fn run(args: &ReportArgs) -> Result<u8> {
    sandbox::refuse("reports, which hold the text of the files that results name")?;
    let claim = |file: &PathBuf| {
        store::check_writable(file)?;
        OutputLock::of_file(file)
    };
    let _claims: Vec<Option<OutputLock>> = args.output.iter().map(claim).collect::<Result<_>>()?;
    let Some(name) = &args.format else {
        let formats = args.output.iter().map(|file| Ok((Format::of_file(file)?, file.clone())));
        api::report_to(&args.results, &formats.collect::<Result<Vec<_>>>()?)?;
        return Ok(0);
    };
    let format = Format::named(name)?;
    match args.output.as_slice() {
        [] => print(&api::report_text(&args.results, format)?)?,
        [file] => api::report_to(&args.results, &[(format, file.clone())])?,
        _ => {
            return Err(Error::caller("--format says the format of one file, but there are several")
                .help("leave --format out, and let the files' names select their formats"));
        }
    }
    Ok(0)
}
