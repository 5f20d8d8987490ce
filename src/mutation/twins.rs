//! Returns what each mutant of a level becomes once it is optimised, by which mutants of different levels are compared.

use std::collections::HashMap;

use super::equivalence::{Kernel, twins::optimised_forms};
use super::mutant::Mutant;
use super::promises;
use crate::coverage::build::{KernelUnderTest, Level};
use crate::error::Result;
use crate::instrument::mutants::Edit;
use crate::llvm::View;

/// Returns by id the forms of mutants of a kernel, see [`optimised_forms`]. Mutants of which nothing can be claimed are left
/// out.
///
/// # Errors
/// Those of [`optimised_forms`].
pub fn forms(under_test: &KernelUnderTest<'_>, mutants: &[Mutant], jobs: usize) -> Result<HashMap<String, String>> {
    let edits: Vec<&Edit> = mutants.iter().map(|mutant| &mutant.edit).collect();
    let module = under_test.module.clone();
    if under_test.level != Level::Raw {
        // The forms are optimised, which must not rest on what the mutants may break.
        promises::drop_inferred(View::of(&module));
    }
    let bitcode = module.write_bitcode_to_memory();
    let kernel = Kernel { bitcode: bitcode.as_slice(), sites: &under_test.sites, entry: &under_test.entry };
    let forms = optimised_forms(kernel, &edits, jobs)?;
    Ok(mutants.iter().zip(forms).filter_map(|(mutant, form)| Some((mutant.id.clone(), form?))).collect())
}
