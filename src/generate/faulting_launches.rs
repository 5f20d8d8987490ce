//! Launches that fault: what they do is named, and where it stays near its buffers, these get margins, so that devices can run them too.

use std::collections::BTreeMap;
use std::time::Instant;

use super::fuzz::{self, Share};
use super::launches::Request;
use super::search::Search;
use super::solving;
use crate::coverage::build::KernelUnderTest;
use crate::error::Result;
use crate::exec::simulator::observation::{FaultKind, SimulatorFault};
use crate::kernel::interface::{ArgKind, Interface};
use crate::lower::host::table::{HostTable, Storage};
use crate::suite::faults::{self, AllowedFault, Reach};
use crate::suite::format::FaultName;
use crate::suite::launch::{ArgValue, Launch};
use crate::symbolic::infeasible::ProofOutcome;

/// Elements of the largest margin: what goes farther is no slip of an index.
const MOST: u64 = 1 << 12;

/// What faulted, an entry per kind, buffer and place in the source.
pub fn named(table: &HostTable, interface: &Interface, all: &[SimulatorFault]) -> Vec<AllowedFault> {
    let mut found: BTreeMap<(&str, Option<u32>, Option<String>), AllowedFault> = BTreeMap::new();
    for fault in all {
        let (kind, path) = match fault.kind {
            FaultKind::OutOfBounds => (FaultName::OutOfBounds, None),
            FaultKind::Null => (FaultName::NullAccess, None),
            FaultKind::ReadOnlyWrite => (FaultName::ReadOnlyWrite, None),
            FaultKind::Misaligned => (FaultName::Misaligned, None),
            FaultKind::Division => (FaultName::Division, table.divisions.get(fault.site as usize).map(|s| s.path)),
            FaultKind::Uninitialised
            | FaultKind::NonTermination
            | FaultKind::BeyondInner
            | FaultKind::CopyArguments
            | FaultKind::EventLists => continue,
        };
        let path = path.or_else(|| Some(table.accesses.get(fault.site as usize)?.path));
        let place = path.and_then(|p| table.paths.get(p as usize)?.frames.first());
        let at = place.map(|f| format!("{}:{}:{}", f.file, f.line, f.column));
        let reach = if kind == FaultName::OutOfBounds { reach(table, interface, fault) } else { None };
        let key = (kind.name(), reach.map(|r| r.position), at.clone());
        let entry = found.entry(key).or_insert_with(|| AllowedFault { kind, reach, at });
        // Copies of one place, by the calls that lead there.
        if let (Some(known), Some(new)) = (&mut entry.reach, reach) {
            known.first = known.first.min(new.first);
            known.last = known.last.max(new.last);
        }
    }
    found.into_values().collect()
}

/// Which elements of which buffer accesses out of bounds are about.
fn reach(table: &HostTable, interface: &Interface, fault: &SimulatorFault) -> Option<Reach> {
    let Storage::Argument(position) = table.objects.get(fault.object? as usize)?.storage else { return None };
    let arg = interface.args.get(position as usize).filter(|a| matches!(a.kind, ArgKind::Buffer { .. }))?;
    let access = table.accesses.get(fault.site as usize)?;
    // Builtins that copy tell only where they begin.
    if access.builtin.as_ref().is_some_and(|b| b.starts_with("async")) {
        return None;
    }
    let (low, high) = fault.span?;
    let element = i64::try_from(faults::element_size(arg)).ok()?;
    let last = high.checked_add(i64::from(access.bytes.max(1)) - 1)?;
    Some(Reach { position, first: low.div_euclid(element), last: last.div_euclid(element) })
}

/// Gives buffers the margins that hold all that is out of bounds, if that is near; powers of two, in bytes.
pub fn give_margins(interface: &Interface, faulted: &[AllowedFault], launch: &mut Launch) {
    let mut margins = vec![0; launch.args.len()];
    for reach in faulted.iter().filter_map(|f| f.reach) {
        let at = reach.position as usize;
        let (Some(arg), Some(ArgValue::Buffer(bytes))) = (interface.args.get(at), launch.args.get(at)) else {
            continue;
        };
        let element = faults::element_size(arg);
        let needed = reach.margin(bytes.len() as u64 / element);
        if (1..=MOST).contains(&needed) {
            margins[at] = margins[at].max(needed.next_power_of_two() * element);
        }
    }
    if margins.iter().all(|m| *m == 0) {
        margins.clear();
    }
    launch.margins = margins;
}

/// A fault in words: `out-of-bounds of `in`, elements -1 to -1, at k.cl:3:5`.
pub fn said(fault: &AllowedFault, interface: &Interface) -> String {
    let mut text = fault.kind.name().to_owned();
    if let Some(reach) = fault.reach
        && let Some(arg) = interface.args.get(reach.position as usize)
    {
        let elements = match reach.first == reach.last {
            true => format!("element {}", reach.first),
            false => format!("elements {} to {}", reach.first, reach.last),
        };
        text.push_str(&format!(" ({elements} of `{}`)", arg.label()));
    }
    if let Some(at) = &fault.at {
        text.push_str(&format!(" at {at}"));
    }
    text
}

/// Covers what is left by launches that fault, where only these come there: better than no test at all, and told apart. `fates`: what
/// proofs say.
///
/// # Errors
/// As of [`fuzz::fuzz`] and [`solving::solve`].
pub fn cover(
    search: &mut Search<'_>,
    under_test: &KernelUnderTest<'_>,
    request: &Request,
    solve: bool,
    fates: &[Option<ProofOutcome>],
) -> Result<()> {
    let goals = search.subject.goals;
    let is_proved = |o: usize| matches!(fates.get(o), Some(Some(ProofOutcome::Infeasible { .. })));
    let left: Vec<usize> =
        (0..goals.len()).filter(|o| goals[*o] && search.first()[*o].is_none() && !is_proved(*o)).collect();
    // Divisors are kept from being 0.
    let may_divide = search.subject.launch_builder.model.scalars.iter().any(|s| s.divides);
    let nothing_faults = search.tried().faulted == 0 && !may_divide;
    if left.is_empty() && !search.kept().is_empty() || nothing_faults || search.over().is_some() {
        return Ok(());
    }
    let had_none = search.kept().is_empty();
    search.allow_faults()?;
    let share = Share::of(search.limits, Instant::now(), solve);
    let count = |search: &Search<'_>| left.iter().filter(|o| search.first()[**o].is_none()).count();
    // Where faults lead nowhere new, more of them hardly do.
    if !had_none && !may_divide && count(search) == left.len() {
        return Ok(());
    }
    let is_left = |search: &Search<'_>| count(search) > 0;
    if is_left(search) {
        fuzz::fuzz(search, request, &share)?;
    }
    if solve && is_left(search) {
        solving::solve_with_faults(search, under_test, &left)?;
    }
    Ok(())
}
