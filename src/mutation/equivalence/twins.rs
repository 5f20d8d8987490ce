//! Finds mutants of different levels that are the same program: those that an optimiser makes equal.

use super::normal::{self, NormalForm};
use super::parts::{CanonicalForm, Kernel};
use super::{on_threads, single};
use crate::error::{Error, Result};
use crate::hash;
use crate::instrument::mutants::Edit;
use crate::llvm::passes;

/// What levels have in common: whatever was optimised before is optimised by this.
const OPTIMISING: &str = "default<O2>";

/// Returns what the kernel becomes under each edit once it is optimised, as a hash of its normal form. Two edits, also of
/// modules that were optimised differently before, with the same form make the same program, for launches in bounds that
/// read nothing uninitialised and with the promises that clang made about the source. `None`: nothing can be claimed, since
/// the form is indeterminate, the kernel is large, or the edit is not one of code.
///
/// # Errors
/// As [`classify`](super::classify).
pub fn optimised_forms(kernel: Kernel<'_>, edits: &[&Edit], jobs: usize) -> Result<Vec<Option<String>>> {
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
