//! Compiles many edited texts of one kernel's source, each by a run of clang of its own.
//!
//! Not for what the edits are.

use std::io;
use std::path::Path;

use kassay_base::error::{Error, Result};
use kassay_model::options::KernelOptions;

use super::clang::{self, Outcome};
use super::compile::{Loaded, Prepared};
use super::cuda;
use super::line_directives::EditedCopies;

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

/// Compiles the variants of a source that these files make, as [`compile::load`](super::compile::load) compiled the
/// original with `options`, on `jobs` processors. `lines_only`: their debug information has the lines of their code,
/// but neither types nor variables, unless they are of CUDA.
///
/// # Errors
/// As [`compile::load`](super::compile::load) for the original; a variant that does not compile is no error.
pub fn compile(
    original: &Loaded,
    options: &KernelOptions,
    edited: &[EditedFile],
    lines_only: bool,
    jobs: usize,
) -> Result<Vec<Compiled>> {
    let source = &original.source;
    let options = options.with_instances(&original.launched);
    let prepared = Prepared::new(source, &options)?;
    // The original's own text decides, so that all variants are compiled alike.
    let (_, manner) = prepared.compile(false)?;
    let no_copy = |error: io::Error| Error::environment(format!("no temporary copy of the source: {error}"));
    let mut copies = EditedCopies::new().map_err(no_copy)?;
    let own = std::path::absolute(source).map_err(no_copy)?;
    let mut arguments = Vec::with_capacity(edited.len());
    for EditedFile { path, text } in edited {
        let path = std::path::absolute(path).map_err(no_copy)?;
        let appended = if path == own { cuda::instantiations(&options) } else { String::new() };
        let text = [text, appended.as_bytes()].concat();
        let overlay = copies.add(&path, &text, prepared.overlay.as_ref()).map_err(no_copy)?;
        let all = prepared.arguments(&manner, Some(&overlay));
        // Variants keep the places of their code, but which macros there were is never asked.
        let kept = all.into_iter().filter(|argument| argument != "-fdebug-macro");
        let fewer = |argument| if lines_only && argument == "-g" { "-gline-tables-only".into() } else { argument };
        arguments.push(kept.map(fewer).collect());
    }
    let copied: Vec<&Path> = prepared.copies().into_iter().chain([copies.folder()]).collect();
    let runs = clang::run_all(&arguments, &options.confined_to(&copied), jobs, options.deadline)?;
    let compiled = |run: Option<clang::Run>| match run {
        Some(run) if run.outcome == Outcome::Compiled => Ok(run.bitcode),
        Some(run) if run.outcome == Outcome::NoKernel => Err("it leaves no kernel".to_owned()),
        Some(run) => Err(run.diagnostics),
        None => Err("clang crashes".to_owned()),
    };
    Ok(runs.into_iter().map(compiled).collect())
}
