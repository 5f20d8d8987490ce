//! Buffers whose length nothing in the kernel gives: they grow where a run goes beyond them.

use std::sync::Arc;

use super::fill::Filling;
use crate::exec::simulator::observation::{FaultKind, SimulatorFault};
use crate::lower::host::table::{HostTable, Storage};
use crate::suite::launch::{ArgValue, Launch};

/// No buffer grows beyond that many bytes: what goes farther is out of bounds.
const LARGEST: u64 = 1 << 24;
/// Nor memory of a work-group beyond the least that a device has (OpenCL 1.2, table 4.3: `CL_DEVICE_LOCAL_MEM_SIZE`).
const LARGEST_LOCAL: u64 = 1 << 15;

/// An argument whose length is what a dry run reached, or less where that did not see everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Of the argument.
    pub position: u32,
    /// What messages call it.
    pub label: String,
    /// What a buffer holds, also where it grows.
    pub filling: Filling,
    /// Whether all accesses were seen: the length is what they reach.
    pub is_exact: bool,
}

impl Guess {
    /// What is assumed of an argument of so many bytes.
    pub fn note(&self, bytes: u64) -> String {
        let elements = match bytes / self.filling.ty.size().max(1) {
            1 => "1 element".to_owned(),
            n => format!("{n} elements"),
        };
        let reach = if self.is_exact { "as many as its accesses reach" } else { "no fewer than its accesses reach" };
        format!("{} has {elements}, {reach}", self.label)
    }
}

/// Ends of accesses behind the ends of arguments, in bytes, by position.
pub fn reached(table: &HostTable, faults: &[SimulatorFault]) -> Vec<(u32, u64)> {
    // Of a buffer of no elements, every access is one through a null pointer.
    let is_beyond =
        |f: &&SimulatorFault| matches!(f.kind, FaultKind::OutOfBounds | FaultKind::Null) && f.texel.is_none();
    let beyond = faults.iter().filter(is_beyond);
    let end = |f: &SimulatorFault| {
        let Storage::Argument(position) = table.objects.get(f.object? as usize)?.storage else { return None };
        let bytes = table.accesses.get(f.site as usize).map_or(1, |a| u64::from(a.bytes));
        Some((position, u64::try_from(f.offset).ok()?.checked_add(bytes)?))
    };
    beyond.filter_map(end).collect()
}

/// Makes arguments of guessed length as large as an execution asks for, and says so among the preconditions; `reached`: position, and
/// the end of an access in bytes. `false` if none of it is beyond such an argument, or all of it too far.
pub fn grow(
    guesses: &mut [Guess],
    launch: &mut Launch,
    preconditions: &mut Vec<String>,
    reached: &[(u32, u64)],
) -> bool {
    let mut has_grown = false;
    for guess in guesses {
        let Some(value) = launch.args.get_mut(guess.position as usize) else { continue };
        let (before, most) = match value {
            ArgValue::Buffer(bytes) => (bytes.len() as u64, LARGEST),
            ArgValue::Local(bytes) => (*bytes, LARGEST_LOCAL),
            _ => continue,
        };
        let ends = reached.iter().filter(|(position, _)| *position == guess.position).map(|(_, end)| *end);
        let Some(end) = ends.filter(|end| *end > before && *end <= most).max() else { continue };
        // Of each place only the first access too far is known: more may follow.
        let element = guess.filling.ty.size().max(1);
        let after = end.max(before.saturating_mul(2).min(most)).div_ceil(element) * element;
        match value {
            ArgValue::Buffer(bytes) => *bytes = Arc::new(guess.filling.bytes(0, after)),
            ArgValue::Local(bytes) => *bytes = after,
            _ => continue,
        }
        let was = guess.note(before);
        preconditions.retain(|p| *p != was);
        guess.is_exact = false;
        preconditions.push(guess.note(after));
        has_grown = true;
    }
    has_grown
}
