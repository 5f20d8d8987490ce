//! Converts results to text, lcov tracefiles, Stryker's JSON and other formats.
//!
//! Must never know: LLVM, devices. To add a format, add a file here and a line to `FORMATS`.

mod by_file;
mod cobertura;
mod code_quality;
mod github;
mod html;
mod junit;
pub mod lcov;
mod markdown;
mod parts;
mod problems;
mod sarif;
pub mod stryker;
pub mod style;
mod table;
mod tables;
pub mod text;
mod texts;

use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};

use crate::result::any::AnyResult;
use crate::result::store::{self, ResultFile};
pub use style::Style;

/// A format to which results can be converted.
#[derive(Debug)]
pub struct Format {
    /// The word that selects it.
    name: &'static str,
    /// Endings of file names that select it.
    suffixes: &'static [&'static str],
    /// The commands whose results it can show, also those of several kernels, in lists.
    commands: &'static [&'static [&'static str]],
    /// Renders the complete file from the results, of which there is at least one, all of `commands`.
    render: fn(&[ResultFile]) -> Result<String>,
}

/// All formats. A suffix that ends like another one stands before it.
const FORMATS: &[Format] = &[
    format("html", &[".html"], html::COMMANDS, html::convert),
    format("lcov", &[".lcov", ".info"], &[&["cover"]], lcov::convert),
    format("cobertura", &[".cobertura.xml"], &[&["cover"]], cobertura::convert),
    format("stryker", &[".stryker.json"], &[&["mutate"]], stryker::convert),
    format("sarif", &[".sarif", ".sarif.json"], problems::COMMANDS, sarif::convert),
    format("codequality", &[".codequality.json"], problems::COMMANDS, code_quality::convert),
    format("github", &[], problems::COMMANDS, github::convert),
    format("junit", &[".junit.xml"], &[&["run", "check", "schedule", "cover", "mutate"]], junit::convert),
    format("markdown", &[".md"], markdown::COMMANDS, markdown::convert),
    format("csv", &[".csv"], tables::COMMANDS, tables::convert),
];

const fn format(
    name: &'static str,
    suffixes: &'static [&'static str],
    commands: &'static [&'static [&'static str]],
    render: fn(&[ResultFile]) -> Result<String>,
) -> Format {
    Format { name, suffixes, commands, render }
}

impl Format {
    /// Returns the names of all formats, as [`Format::named`] takes them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|format| format.name)
    }

    /// Returns the format of a name.
    ///
    /// # Errors
    /// `Caller` if there is none.
    pub fn named(name: &str) -> Result<&'static Format> {
        FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<String> = Format::names().map(|name| format!("`{name}`")).collect();
            Error::caller(format!("there is no format `{name}`")).help(format!("choose one of {}", names.join(", ")))
        })
    }

    /// Returns the format that the ending of a file's name selects.
    ///
    /// # Errors
    /// `Caller` if it selects none.
    pub fn of_file(output: &Path) -> Result<&'static Format> {
        let name = output.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let is_meant = |format: &&Format| format.suffixes.iter().any(|suffix| name.ends_with(suffix));
        FORMATS.iter().find(is_meant).ok_or_else(|| unknown_format(output))
    }

    /// Reads results and returns them in this format.
    ///
    /// # Errors
    /// `Caller` if there is no result, or one that the format cannot show; those of [`store::read`].
    pub fn render(&self, results: &[PathBuf]) -> Result<String> {
        self.render_loaded(&load(results)?)
    }

    /// As [`Format::render`], of results that have been read.
    ///
    /// # Errors
    /// `Caller` if there is no result, or one that the format cannot show.
    pub fn render_read(&self, results: Vec<ResultFile>) -> Result<String> {
        self.render_loaded(&taken_apart(results)?)
    }

    fn render_loaded(&self, loaded: &Loaded) -> Result<String> {
        let commands = self.commands.concat();
        let shows = |result: &AnyResult| commands.contains(&result.command());
        let others = || loaded.results.iter().zip(&loaded.of_project).filter(|((_, result), _)| !shows(result));
        let known: Vec<String> = commands.iter().map(|command| format!("`kassay {command}`")).collect();
        let refusal = |path: &Path, command: &str| {
            let what = format!("{} is a result of `kassay {command}`, which {} cannot show", path.display(), self.name);
            Err(Error::caller(what).help(format!("name results of {}", known.join(", "))))
        };
        if let Some(((path, result), _)) = others().find(|(_, of_project)| !**of_project) {
            return refusal(path, &result.command_line());
        }
        if others().next().is_none() {
            return (self.render)(&loaded.results);
        }
        // A project asks for more than most formats show.
        let some: Vec<ResultFile> = loaded.results.iter().filter(|(_, result)| shows(result)).cloned().collect();
        match (some.is_empty(), loaded.results.first()) {
            (true, Some((path, _))) => refusal(path, "ci"),
            _ => (self.render)(&some),
        }
    }
}

/// Results that were read, those of projects taken apart.
struct Loaded {
    results: Vec<ResultFile>,
    /// Whether each is part of a project's.
    of_project: Vec<bool>,
}

/// Converts results to the format selected by the ending of `output`'s name.
///
/// # Errors
/// `Caller` if the format is unknown; those of [`convert_to`].
pub fn convert(results: &[PathBuf], output: &Path) -> Result<()> {
    convert_to(results, &[(Format::of_file(output)?, output.to_owned())])
}

/// Converts results to several files, each in a format of its own. If one cannot be rendered, none is written.
///
/// # Errors
/// As [`Format::render`], [`store::check_writable`] and [`store::write_text`].
pub fn convert_to(results: &[PathBuf], outputs: &[(&Format, PathBuf)]) -> Result<()> {
    outputs.iter().try_for_each(|(_, output)| store::check_writable(output))?;
    let loaded = load(results)?;
    let texts = outputs.iter().map(|(format, _)| format.render_loaded(&loaded)).collect::<Result<Vec<_>>>()?;
    outputs.iter().zip(&texts).try_for_each(|((_, output), text)| store::write_text(text, output))
}

fn load(results: &[PathBuf]) -> Result<Loaded> {
    taken_apart(results.iter().map(|path| Ok((path.clone(), store::read(path)?))).collect::<Result<_>>()?)
}

fn taken_apart(results: Vec<ResultFile>) -> Result<Loaded> {
    if results.is_empty() {
        return Err(Error::caller("there is no result to report on").help("name one or more result files"));
    }
    let mut loaded = Loaded { results: Vec::new(), of_project: Vec::new() };
    for (path, result) in results {
        match result {
            AnyResult::Ci(ci) => loaded.results.extend(ci.apart().into_iter().map(|set| (path.clone(), set))),
            result => {
                loaded.results.push((path, result));
                loaded.of_project.push(false);
            }
        }
        loaded.of_project.resize(loaded.results.len(), true);
    }
    Ok(loaded)
}

fn unknown_format(output: &Path) -> Error {
    let suffixes: Vec<String> = FORMATS.iter().flat_map(|f| f.suffixes).map(|s| format!("`{s}`")).collect();
    let what = format!("the name of {} does not say which format to write", output.display());
    Error::caller(what).help(format!("end the output's name in one of {}", suffixes.join(", ")))
}
