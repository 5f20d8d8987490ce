//! Compiles many edited texts of one kernel's source, each by a run of clang of its own.
//!
//! Not for what the edits are.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_model::options::{Features, KernelOptions, Language};

use super::clang::{self, Outcome};
use super::line_directives::{self, EditedCopies, Overlay};

/// The text that one file of the kernel has in a variant; all others stay as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFile {
    /// The file as clang names it: the path as given, or as found on the include path.
    pub path: String,
    /// Its bytes, in place of those on disk.
    pub text: Vec<u8>,
}

/// The bitcode of a variant, or clang's diagnostics.
pub type Compiled = std::result::Result<Vec<u8>, String>;

/// Compiles the variants of `source` that these files make, as [`compile::load`](super::compile::load) compiles the
/// original, on `jobs` processors. `lines_only`: their debug information has the lines of their code, but neither types
/// nor variables.
///
/// # Errors
/// As [`compile::load`](super::compile::load) for the original; a variant that does not compile is no error.
pub fn compile(
    source: &Path,
    options: &KernelOptions,
    edited: &[EditedFile],
    lines_only: bool,
    jobs: usize,
) -> Result<Vec<Compiled>> {
    let language = options.language(source);
    let overlay = line_directives::overlay(source, &options.include_path(), options.sandbox.as_ref())?;
    let features = features(source, options, language, overlay.as_ref())?;
    let no_copy = |error: io::Error| Error::environment(format!("no temporary copy of the source: {error}"));
    let mut copies = EditedCopies::new().map_err(no_copy)?;
    let mut arguments = Vec::with_capacity(edited.len());
    for EditedFile { path, text } in edited {
        let path = std::path::absolute(path).map_err(no_copy)?;
        let overlay = copies.add(&path, text, overlay.as_ref()).map_err(no_copy)?;
        let mut own = arguments_of(source, options, language, features, Some(overlay));
        if lines_only {
            own.iter_mut().filter(|argument| *argument == "-g").for_each(|g| *g = "-gline-tables-only".into());
        }
        arguments.push(own);
    }
    let copied: Vec<&Path> = overlay.iter().map(Overlay::folder).chain([copies.folder()]).collect();
    let folders = options.confined_to(&copied);
    let runs = clang::run_all(&arguments, &folders, jobs, options.deadline)?;
    let compiled = |run: Option<clang::Run>| match run {
        Some(run) if run.outcome == Outcome::Compiled => Ok(run.bitcode),
        Some(run) => Err(run.diagnostics),
        None => Err("clang crashes".to_owned()),
    };
    Ok(runs.into_iter().map(compiled).collect())
}

/// Returns the features with which the original compiles. Its own text decides, so that all variants are compiled
/// alike.
fn features(source: &Path, options: &KernelOptions, language: Language, overlay: Option<&Overlay>) -> Result<Features> {
    let folders = options.confined_to(&overlay.iter().map(|overlay| overlay.folder()).collect::<Vec<_>>());
    let overlay = || overlay.map(Overlay::file);
    let run = |features| {
        clang::run(&arguments_of(source, options, language, features, overlay()), &folders, false, options.deadline)
    };
    let first = run(Features::Reduced)?;
    if first.outcome == Outcome::Refused {
        for features in options.fallback_features(language, &first.diagnostics) {
            if run(features)?.outcome == Outcome::Compiled {
                return Ok(features);
            }
        }
    }
    Ok(Features::Reduced)
}

fn arguments_of(
    source: &Path,
    options: &KernelOptions,
    language: Language,
    features: Features,
    overlay: Option<PathBuf>,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["-x".into(), language.clang_name().into()];
    // Variants keep the places of their code, but which macros there were is never asked.
    arguments.extend(options.clang_arguments(language, features).into_iter().filter(|a| a != "-fdebug-macro"));
    if let Some(overlay) = overlay {
        arguments.extend(["-ivfsoverlay".into(), overlay.into()]);
    }
    arguments.extend(["-emit-llvm", "-c", "-o", "kernel.bc", "--"].map(OsString::from));
    arguments.push(source.into());
    arguments
}
