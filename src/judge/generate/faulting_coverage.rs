//! Covers outcomes with launches that fault, where no other launch gets there.

use std::time::Instant;

use kassay_base::error::Result;
use kassay_prove::symbolic::infeasible::ProofOutcome;

use super::fuzz::{self, Share};
use super::launches::Request;
use super::search::Search;
use super::solving;
use crate::coverage::build::KernelUnderTest;

/// Covers what is left with launches that fault, where only these get there: better than no test at all, and reported
/// separately. `proofs`: results of the proofs, by outcome.
///
/// # Errors
/// As [`fuzz::fuzz`] and [`solving::solve`].
pub(super) fn cover_with_faults(
    search: &mut Search<'_>,
    under_test: &KernelUnderTest<'_>,
    request: &Request,
    solve: bool,
    proofs: &[Option<ProofOutcome>],
) -> Result<()> {
    let goals = search.problem.goals;
    let is_proved = |o: usize| matches!(proofs.get(o), Some(Some(ProofOutcome::Infeasible { .. })));
    let left: Vec<usize> =
        (0..goals.len()).filter(|o| goals[*o] && search.first()[*o].is_none() && !is_proved(*o)).collect();
    // Unless faults are allowed, divisors are kept from being 0.
    let may_divide = search.problem.launch_builder.model.scalars.iter().any(|s| s.divides);
    let nothing_faults = search.statistics().faulted == 0 && !may_divide;
    if left.is_empty() && !search.corpus().is_empty() || nothing_faults || search.stop_reason().is_some() {
        return Ok(());
    }
    let had_none = search.corpus().is_empty();
    search.allow_faults()?;
    let share = Share::of(search.limits, Instant::now(), solve);
    let count = |search: &Search<'_>| left.iter().filter(|o| search.first()[**o].is_none()).count();
    // If faults lead nowhere new, more of them are unlikely to.
    if !had_none && !may_divide && count(search) == left.len() {
        return Ok(());
    }
    let is_left = |search: &Search<'_>| count(search) > 0;
    if is_left(search) {
        fuzz::fuzz(search, request, &share, &mut |_| Ok(()))?;
    }
    if solve && is_left(search) {
        solving::solve_with_faults(search, under_test, &left)?;
    }
    Ok(())
}
