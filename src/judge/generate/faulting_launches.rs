//! Handles launches that fault: names what they do, and gives buffers margins where accesses stay near them, so that
//! devices can run such launches, too.

use std::collections::BTreeMap;

use kassay_ir::kernel::builtins::{self, Family};
use kassay_model::interface::{ArgKind, Interface};
use kassay_model::native::table::{NativeTable, Storage};
use kassay_run::exec::simulator::observation::{FaultKind, SimulatorFault};
use kassay_suite::faults::{self, AllowedFault, Reach};
use kassay_suite::format::FaultName;
use kassay_suite::launch::{ArgValue, Launch};

/// Elements of the largest margin: accesses farther away are no slip of an index.
const MAX_MARGIN: u64 = 1 << 12;

/// Describes what faulted, with one entry per kind, buffer and source location.
pub fn describe_faults(table: &NativeTable, interface: &Interface, all: &[SimulatorFault]) -> Vec<AllowedFault> {
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
            | FaultKind::Trap
            | FaultKind::WriteOnlyRead
            | FaultKind::BeyondInner
            | FaultKind::BeyondRow
            | FaultKind::BarrierFlags
            | FaultKind::CopyArguments
            | FaultKind::EventLists
            | FaultKind::UnawaitedCopy
            | FaultKind::OutsideMask => continue,
        };
        let path = path.or_else(|| Some(table.accesses.get(fault.site as usize)?.path));
        let place = path.and_then(|p| table.paths.get(p as usize)?.frames.first());
        let at = place.map(|f| format!("{}:{}:{}", f.file, f.line, f.column));
        let reach = if kind == FaultName::OutOfBounds { reach(table, interface, fault) } else { None };
        let key = (kind.name(), reach.map(|r| r.position), at.clone());
        let entry = found.entry(key).or_insert_with(|| AllowedFault { kind, reach, at });
        // The same source location, reached through different calls.
        if let (Some(known), Some(new)) = (&mut entry.reach, reach) {
            known.first = known.first.min(new.first);
            known.last = known.last.max(new.last);
        }
    }
    found.into_values().collect()
}

/// Returns the range of elements that an out-of-bounds fault affects; `None` if it concerns no buffer, or is not known.
fn reach(table: &NativeTable, interface: &Interface, fault: &SimulatorFault) -> Option<Reach> {
    let Storage::Argument(position) = table.objects.get(fault.object? as usize)?.storage else { return None };
    let arg = interface.args.get(position as usize).filter(|a| matches!(a.kind, ArgKind::Buffer { .. }))?;
    let access = table.accesses.get(fault.site as usize)?;
    // Builtins that copy only report where they begin.
    if access.builtin.as_ref().is_some_and(|name| builtins::family(name) == Some(Family::AsyncCopy)) {
        return None;
    }
    let (low, high) = fault.span?;
    let element = i64::try_from(faults::element_size(arg)).ok()?;
    let last = high.checked_add(i64::from(access.bytes.max(1)) - 1)?;
    Some(Reach { position, first: low.div_euclid(element), last: last.div_euclid(element) })
}

/// Gives buffers margins that contain everything out of bounds, if that is near. A margin, in bytes, is a power of two
/// times the element's size.
pub fn give_margins(interface: &Interface, faulted: &[AllowedFault], launch: &mut Launch) {
    let mut margins = vec![0; launch.args.len()];
    for reach in faulted.iter().filter_map(|f| f.reach) {
        let at = reach.position as usize;
        let (Some(arg), Some(ArgValue::Buffer(bytes))) = (interface.args.get(at), launch.args.get(at)) else {
            continue;
        };
        let element = faults::element_size(arg);
        let needed = reach.margin(bytes.len() as u64 / element);
        if (1..=MAX_MARGIN).contains(&needed) {
            margins[at] = margins[at].max(needed.next_power_of_two() * element);
        }
    }
    if margins.iter().all(|m| *m == 0) {
        margins.clear();
    }
    launch.margins = margins;
}

/// Returns a fault in words, such as ``out-of-bounds (element -1 of `in`) at k.cl:3:5``.
pub fn text(fault: &AllowedFault, interface: &Interface) -> String {
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
