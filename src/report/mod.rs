//! Results to text, lcov, Stryker's JSON and other formats.
//!
//! Must never know: LLVM, devices. A new format is one file here and one line in [`FORMATS`].

mod by_file;
pub mod lcov;
pub mod stryker;
pub mod style;
mod table;
pub mod text;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::result::store::{self, AnyResult};

pub use style::Style;

/// A result and the file it was read from.
pub type Loaded = (PathBuf, AnyResult);

/// A format that results can be converted to.
struct Format {
    /// How the output's name ends.
    suffix: &'static str,
    /// The whole file from the results, at least one.
    render: fn(&[Loaded]) -> Result<String>,
}

const FORMATS: &[Format] = &[
    Format { suffix: ".lcov", render: lcov::convert },
    Format { suffix: ".info", render: lcov::convert },
    Format { suffix: ".stryker.json", render: stryker::convert },
];

/// Formats that the contract names and that are not built yet.
const PLANNED: &[&str] = &[".html", ".junit.xml", ".xml", ".sarif"];

/// Converts results to the format that the name of `output` ends in.
///
/// # Errors
/// `Caller` if the format is unknown or not built yet, or if a result cannot be read or has no such report; what
/// [`store::write_text`] gives.
pub fn convert(results: &[PathBuf], output: &Path) -> Result<()> {
    let name = output.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let Some(format) = FORMATS.iter().find(|f| name.ends_with(f.suffix)) else {
        return Err(unknown_format(&name, output));
    };
    if results.is_empty() {
        return Err(Error::caller("there is no result to report on").help("name one or more result files"));
    }
    let loaded =
        results.iter().map(|path| store::read(path).map(|r| (path.clone(), r))).collect::<Result<Vec<Loaded>>>()?;
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
