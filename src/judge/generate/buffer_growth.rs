//! Enlarges buffers whose length the kernel does not determine when a run accesses them out of bounds.

use std::sync::Arc;

use kassay_model::native::table::{NativeTable, Storage};
use kassay_run::exec::simulator::observation::{FaultKind, SimulatorFault};
use kassay_suite::launch::{ArgValue, Launch};

use super::fill::Filling;

/// Size limit of growing buffers, in bytes: accesses farther away count as out of bounds.
const LARGEST: u64 = 1 << 24;
/// Size limit of growing local memory: the least that a device must have (OpenCL 1.2, table
/// 4.3: `CL_DEVICE_LOCAL_MEM_SIZE`).
const LARGEST_LOCAL: u64 = 1 << 15;

/// An argument whose length is inferred from a dry run; it is too short if that did not observe all accesses.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Position of the argument.
    pub position: u32,
    /// Its name in messages.
    pub label: String,
    /// Contents of the buffer, also after it grows.
    pub filling: Filling,
    /// Whether all accesses were observed, so that the length is exactly what they need.
    pub is_exact: bool,
}

impl Guess {
    /// Returns the precondition that the argument has `bytes` bytes, as a sentence.
    pub fn note(&self, bytes: u64) -> String {
        let elements = match bytes / self.filling.ty.size().max(1) {
            1 => "1 element".to_owned(),
            n => format!("{n} elements"),
        };
        let reach = if self.is_exact { "as many as its accesses reach" } else { "no fewer than its accesses reach" };
        format!("{} has {elements}, {reach}", self.label)
    }
}

/// Returns the ends of the out-of-bounds accesses to arguments: position of the argument, and end in bytes.
pub fn reached(table: &NativeTable, faults: &[SimulatorFault]) -> Vec<(u32, u64)> {
    // Accesses to a buffer without elements fault as accesses through a null pointer.
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

/// Enlarges arguments of guessed length to what an execution accessed, and updates the preconditions. `reached`:
/// position of an argument, and end of an access to it in bytes. Returns `false` if no access exceeds such an argument,
/// or all exceed the limits.
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
        // Only the first out-of-bounds access of each place is known: more may follow.
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
