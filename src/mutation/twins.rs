//! Returns what each mutant of a level becomes once it is optimised, by which mutants of different levels are compared.

use std::collections::HashMap;

use super::Selection;
use super::enumerate::enumerate;
use super::equivalence::{Kernel, twins::optimised_forms};
use super::mutant::Mutant;
use super::operators::Subject;
use crate::coverage::build::KernelUnderTest;
use crate::error::Result;
use crate::instrument::mutants::Edit;
use crate::kernel::ast::Ast;
use crate::kernel::source::Sources;
use crate::llvm::View;

/// Returns by id the forms of all mutants that operators find, see [`optimised_forms`]. Mutants of which nothing can be
/// claimed are left out.
///
/// # Errors
/// Those of [`optimised_forms`].
pub fn forms(
    under_test: &KernelUnderTest<'_>,
    ast: Option<&Ast>,
    sources: &Sources,
    selection: &Selection,
    jobs: usize,
) -> Result<HashMap<String, String>> {
    let subject = Subject {
        module: View::of(&under_test.module),
        entry: &under_test.entry,
        interface: &under_test.interface,
        sites: &under_test.sites,
        ast,
        sources,
        preset: selection.preset(),
        level: selection.level(),
        cache: Default::default(),
    };
    let mutants: Vec<Mutant> = enumerate(&subject, selection).mutants.into_iter().collect();
    let edits: Vec<&Edit> = mutants.iter().map(|mutant| &mutant.edit).collect();
    let bitcode = under_test.module.write_bitcode_to_memory();
    let kernel = Kernel { bitcode: bitcode.as_slice(), sites: &under_test.sites, entry: &under_test.entry };
    let forms = optimised_forms(kernel, &edits, jobs)?;
    Ok(mutants.iter().zip(forms).filter_map(|(mutant, form)| Some((mutant.id.clone(), form?))).collect())
}
