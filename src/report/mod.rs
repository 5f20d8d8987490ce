//! Converts results to text, lcov tracefiles, Stryker's JSON and other formats.
//!
//! Must never know: LLVM, devices. To add a format, add a file here and a line to `FORMATS`.

mod by_file;
mod html;
pub mod lcov;
pub mod stryker;
pub mod style;
mod table;
pub mod text;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::result::store::{self, ResultFile};

pub use style::Style;

/// A format to which results can be converted.
struct Format {
    /// Ending of the output's file name that selects the format.
    suffix: &'static str,
    /// Renders the complete file from the results, of which there is at least one.
    render: fn(&[ResultFile]) -> Result<String>,
}

const FORMATS: &[Format] = &[
    Format { suffix: ".lcov", render: lcov::convert },
    Format { suffix: ".info", render: lcov::convert },
    Format { suffix: ".html", render: html::convert },
    Format { suffix: ".stryker.json", render: stryker::convert },
];

/// Formats that are planned but not implemented yet.
const PLANNED: &[&str] = &[".junit.xml", ".xml", ".sarif"];

/// Converts results to the format selected by the ending of `output`'s name.
///
/// # Errors
/// `Caller` if the format is unknown or not implemented, or a result has no report in it; those of [`store::read`]
/// and [`store::write_text`].
pub fn convert(results: &[PathBuf], output: &Path) -> Result<()> {
    let name = output.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let Some(format) = FORMATS.iter().find(|f| name.ends_with(f.suffix)) else {
        return Err(unknown_format(&name, output));
    };
    if results.is_empty() {
        return Err(Error::caller("there is no result to report on").help("name one or more result files"));
    }
    let loaded =
        results.iter().map(|path| store::read(path).map(|r| (path.clone(), r))).collect::<Result<Vec<ResultFile>>>()?;
    store::write_text(&(format.render)(&loaded)?, output)
}

fn unknown_format(name: &str, output: &Path) -> Error {
    let available = FORMATS.iter().map(|f| format!("`{}`", f.suffix)).collect::<Vec<_>>().join(", ");
    let what = match PLANNED.iter().find(|suffix| name.ends_with(**suffix)) {
        Some(suffix) => format!("reports in `{suffix}` files are not built yet"),
        None => format!("the name of {} does not say which format to write", output.display()),
    };
    Error::caller(what).help(format!("end the output's name in one of {available}"))
}
