//! Finds mutants of different levels that are the same program: those that an optimiser makes equal.

use std::collections::HashMap;

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::llvm::{View, passes};

use super::normal::{self, NormalForm};
use super::parts::{CanonicalForm, Kernel};
use super::{on_threads, single};
use crate::coverage::build::{KernelUnderTest, Level};
use crate::mutation::build::assumptions;
use crate::mutation::catalogue::mutant::Mutant;

/// What levels have in common: whatever was optimised before is optimised by this.
const OPTIMISING: &str = "default<O2>";

/// Returns by id the forms of mutants of a kernel, see `optimised_forms`. Mutants of which nothing can be claimed are
/// left out.
///
/// # Errors
/// Errors of `optimised_forms`.
pub fn forms(under_test: &KernelUnderTest<'_>, mutants: &[Mutant], jobs: usize) -> Result<HashMap<String, String>> {
    let edits: Vec<&Edit> = mutants.iter().map(|mutant| &mutant.edit).collect();
    let module = under_test.module.clone();
    if under_test.level != Level::Raw {
        // The forms are optimised, which must not rest on what the mutants may break.
        assumptions::drop_inferred(View::of(&module));
    }
    let bitcode = module.write_bitcode_to_memory();
    let kernel = Kernel { bitcode: bitcode.as_slice(), sites: &under_test.sites, entry: &under_test.entry };
    let forms = optimised_forms(kernel, &edits, jobs)?;
    Ok(mutants.iter().zip(forms).filter_map(|(mutant, form)| Some((mutant.id.clone(), form?))).collect())
}

/// Returns what the kernel becomes under each edit once it is optimised, as a hash of its normal form. Two edits, also
/// of modules that were optimised differently before, with the same form make the same program, for launches in bounds
/// that read nothing uninitialised and with the assumptions that clang takes from the source. `None`: nothing can be
/// claimed, since the form is indeterminate, the kernel is large, or the edit is not one of code.
///
/// # Errors
/// As [`classify`](super::classify).
fn optimised_forms(kernel: Kernel<'_>, edits: &[&Edit], jobs: usize) -> Result<Vec<Option<String>>> {
    let forms = on_threads(kernel, edits, jobs, None, form)?;
    Ok(forms.into_iter().map(Option::flatten).collect())
}

fn form(canonical: &CanonicalForm<'_, '_>, edit: &Edit) -> Result<Option<String>> {
    if !edit.is_woven() {
        return Ok(None);
    }
    let Some(mut mutant) = canonical.whole() else { return Ok(None) };
    single::apply(&mutant, canonical.kernel.sites, edit)?;
    let failed = |e: Error| Error::internal("optimising a mutant failed").details(e.to_string());
    passes::run(&mut mutant, None, OPTIMISING).map_err(failed)?;
    Ok(match normal::of(mutant, canonical.kernel.entry)? {
        NormalForm::Text(text) => Some(hash::hex_digest(text.as_bytes())),
        NormalForm::Indeterminate => None,
    })
}
