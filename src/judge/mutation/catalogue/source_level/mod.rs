//! Mutants at the level of the source's text: the edits that mutants of the canonical form stand for, each compiled by
//! clang by itself.
//!
//! Not for how mutants are run: a [`Variant`] is selected by its number like any other mutant.

mod edits;
mod operands;
pub mod text_edit;
mod variants;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_ir::instrument::mutants::{Edit, Variant};
use kassay_ir::kernel::compile::{Format, Loaded};
use kassay_ir::kernel::source::Sources;
use kassay_model::options::{KernelOptions, Language};

use super::enumerate::{Enumeration, enumerate};
use super::mutant::{Excluded, Mutant};
use super::selection::Selection;
use super::subject::Subject;
use crate::coverage::build::KernelUnderTest;
use edits::{Placed, Source};
use text_edit::TextEdit;

/// The mutants of a kernel's source.
#[derive(Debug, Clone, Default)]
pub struct SourceMutants {
    /// In the order of those of the canonical form. Those of a place outside macros' bodies have the same ids.
    pub mutants: Vec<Mutant>,
    /// What no edit of the text makes, with the reason.
    pub excluded: Vec<Excluded>,
}

/// A mutant of the source before it is compiled.
struct Found {
    /// The first of those of the canonical form that it stands for.
    mutant: Mutant,
    placed: Placed,
    /// The edits of all of them, such as a macro's expansions.
    reached: Vec<Edit>,
}

/// Finds and compiles the mutants of a kernel's source, on `jobs` processors. `options` are those with which `loaded`
/// was compiled.
///
/// # Errors
/// `Caller` if there is no text of OpenCL C or CUDA, or no syntax tree of it; those of clang's runs.
pub fn find(
    under_test: &KernelUnderTest<'_>,
    loaded: &Loaded,
    sources: &Sources,
    options: &KernelOptions,
    selection: &Selection,
    jobs: usize,
) -> Result<SourceMutants> {
    if let Some(why) = without_text(loaded, options) {
        return Err(
            Error::caller(why).help("give OpenCL C or CUDA, or mutate the canonical form with --level canonical")
        );
    }
    let ast = loaded.ast.as_ref().ok_or_else(|| Error::internal("source was read without its syntax tree"))?;
    let subject = Subject::of(under_test, Some(ast), sources);
    let Enumeration { mutants, mut excluded, .. } = enumerate(&subject, selection);
    let found = distinct(&Source { ast, sources }, mutants, &mut excluded);
    let mut texts: Vec<&TextEdit> = Vec::new();
    let mut positions: HashMap<&TextEdit, usize> = HashMap::new();
    for Found { placed, .. } in &found {
        positions.entry(&placed.edit).or_insert_with(|| {
            texts.push(&placed.edit);
            texts.len() - 1
        });
    }
    let made = variants::make(under_test, loaded, options, &texts, jobs)?;
    let edit = |found: &Found| match &made[positions[&found.placed.edit]] {
        Ok(variant) => Edit::Variant(Arc::new(Variant { reached: reached(found), ..variant.clone() })),
        Err(reason) => Edit::Uncompilable { change: format!("{:?}", found.placed.edit), reason: reason.clone() },
    };
    let edits: Vec<Edit> = found.iter().map(edit).collect();
    let mutants =
        found.into_iter().zip(edits).map(|(found, edit)| Mutant { edit, is_structural: true, ..found.mutant });
    Ok(SourceMutants { mutants: mutants.collect(), excluded })
}

/// Returns why a kernel has no text whose mutants clang could compile; `None` if it has.
pub fn without_text(loaded: &Loaded, options: &KernelOptions) -> Option<String> {
    let source = loaded.source.display();
    if loaded.format != Format::OpenClC {
        return Some(format!("{source} has no source text whose mutants clang could compile"));
    }
    let language = options.language(&loaded.source);
    (language == Language::CppForOpenCl).then(|| format!("{source} is {}, whose text is not mutated", language.name()))
}

/// Finds the edits of mutants. Those that make the same edit by the same operator are one mutant.
fn distinct(source: &Source<'_>, mutants: Vec<Mutant>, excluded: &mut Vec<Excluded>) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let mut known: HashMap<(&'static str, TextEdit), usize> = HashMap::new();
    let mut ids = BTreeSet::new();
    for mut mutant in mutants {
        let placed = match edits::of(source, &mutant) {
            Ok(placed) => placed,
            Err(reason) => {
                let Mutant { operator, function, range, original, replacement, .. } = mutant;
                let reason = format!("`{original}` to `{replacement}`: {reason}");
                excluded.push(Excluded { operator, function, range, reason });
                continue;
            }
        };
        if let Some(first) = known.get(&(mutant.operator, placed.edit.clone())) {
            all[*first].reached.push(mutant.edit);
            continue;
        }
        known.insert((mutant.operator, placed.edit.clone()), all.len());
        if placed.in_macro_body {
            let file = Path::new(&placed.range.file).file_name().unwrap_or_default().to_string_lossy().into_owned();
            let at = placed.range.start;
            let by = mutant.replacement.split_whitespace().collect::<Vec<_>>().join(" ");
            let id = format!("{}.{}@{file}:{}:{}:{by}", mutant.function, mutant.operator, at.line, at.column);
            let numbered = (2..).map(|n| format!("{id}#{n}"));
            let free = |id: &String| !ids.contains(id);
            mutant.id = std::iter::once(id.clone()).chain(numbered).find(free).unwrap_or(id);
            mutant.range = Some(placed.range.clone());
            mutant.spelling = Some(placed.range.clone());
        }
        ids.insert(mutant.id.clone());
        let reached = vec![mutant.edit.clone()];
        all.push(Found { mutant, placed, reached });
    }
    all
}

/// Returns the edit whose places say whether a run reaches a mutant. Not every expansion of a macro has mutants of its
/// own, so any run may reach one in a body.
fn reached(found: &Found) -> Option<Box<Edit>> {
    match &found.reached[..] {
        _ if found.placed.in_macro_body => None,
        [only] => Some(Box::new(only.clone())),
        several => Some(Box::new(Edit::All(several.to_vec()))),
    }
    .filter(|edit| edit.is_woven())
}
