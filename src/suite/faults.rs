//! Faults that a test allows: what a suite says of them, and whether a device can run such a test.

use super::document::{Source, suggestion};
use super::format::{FaultName, TestEntry};
use super::launch::ArgValue;
use super::resolve::Test;
use crate::error::Result;
use crate::kernel::interface::{Arg, ArgKind, Interface};

/// Something that the kernel does in a test and no kernel may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulted {
    pub kind: FaultName,
    /// Of accesses out of bounds: which buffer they miss, and how far.
    pub reach: Option<Reach>,
    /// Where in the source, for people.
    pub at: Option<String>,
}

/// How far accesses reach out of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Of the argument.
    pub position: u32,
    /// The first and the last element; negative before the buffer's begin.
    pub first: i64,
    pub last: i64,
}

/// What a work-item may do that no kernel may: the names and words of suites, results, reports and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultClass {
    OutOfBounds,
    NullAccess,
    ReadOnlyWrite,
    Misaligned,
    Division,
    NonTermination,
    /// A read of local memory that no work-item of the group has written.
    Uninitialised,
}

impl FaultClass {
    /// Returns its name in suites and results.
    pub fn name(self) -> &'static str {
        match self {
            FaultClass::OutOfBounds => "out-of-bounds",
            FaultClass::NullAccess => "null-access",
            FaultClass::ReadOnlyWrite => "read-only-write",
            FaultClass::Misaligned => "misaligned",
            FaultClass::Division => "division",
            FaultClass::NonTermination => "non-termination",
            FaultClass::Uninitialised => "uninitialised",
        }
    }

    /// Returns it in words, without an article.
    pub fn words(self) -> &'static str {
        match self {
            FaultClass::OutOfBounds => "access out of bounds",
            FaultClass::NullAccess => "access through a null pointer",
            FaultClass::ReadOnlyWrite => "write to read-only memory",
            FaultClass::Misaligned => "misaligned access",
            FaultClass::Division => "division that traps",
            FaultClass::NonTermination => "loop without end",
            FaultClass::Uninitialised => "read of uninitialised memory",
        }
    }

    /// Returns it in words, with the indefinite article.
    pub fn indefinite(self) -> String {
        let words = self.words();
        let article = if words.starts_with('a') { "an" } else { "a" };
        format!("{article} {words}")
    }
}

impl FaultName {
    /// Returns its name in suites and results.
    pub fn name(self) -> &'static str {
        self.class().name()
    }

    fn class(self) -> FaultClass {
        match self {
            FaultName::OutOfBounds => FaultClass::OutOfBounds,
            FaultName::NullAccess => FaultClass::NullAccess,
            FaultName::ReadOnlyWrite => FaultClass::ReadOnlyWrite,
            FaultName::Misaligned => FaultClass::Misaligned,
            FaultName::Division => FaultClass::Division,
        }
    }
}

impl Reach {
    /// Elements that the buffer needs on either side, if it has so many.
    pub fn margin(&self, elements: u64) -> u64 {
        let behind = u64::try_from(self.last).map_or(0, |last| last.saturating_add(1).saturating_sub(elements));
        self.first.min(0).unsigned_abs().max(behind)
    }
}

/// Bytes of an element of an argument, 1 where the kernel does not tell.
pub fn element(arg: &Arg) -> u64 {
    match &arg.kind {
        ArgKind::Buffer { element: Some(ty), .. } => ty.size().max(1),
        _ => 1,
    }
}

/// Whether a test allows faults, and which it names.
///
/// # Errors
/// `Caller`, with its place, if it names some but allows none, or names none that its arguments can have.
pub fn resolve(source: &Source, entry: &TestEntry, interface: &Interface) -> Result<(bool, Vec<Faulted>)> {
    let allows = entry.faults.is_some();
    if let (false, Some(first)) = (allows, entry.faulted.first()) {
        return Err(source
            .error(&first.span, "the test says what faults, but does not allow it")
            .help("add `faults = \"allowed\"` to the test, or leave `faulted` out"));
    }
    let mut all = Vec::new();
    for given in &entry.faulted {
        let spec = &given.value;
        let reach = match (&spec.argument, &spec.first, &spec.last) {
            (None, None, None) => None,
            (Some(name), Some(first), Some(last)) if spec.kind.value == FaultName::OutOfBounds => {
                let labels: Vec<String> = interface.args.iter().map(Arg::label).collect();
                let Some(position) = labels.iter().position(|label| *label == name.value) else {
                    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                    let what = format!("`{}` has no argument `{}`", interface.name, name.value);
                    return Err(source.error(&name.span, what).help(suggestion(&name.value, &labels, "its arguments")));
                };
                if !matches!(interface.args[position].kind, ArgKind::Buffer { .. }) {
                    let what = format!("the argument `{}` is no buffer, so no access can miss it", name.value);
                    return Err(source.error(&name.span, what).help("name a buffer"));
                }
                if first.value > last.value {
                    let what = format!("the last element, {}, comes before the first, {}", last.value, first.value);
                    return Err(source.error(&last.span, what).help("exchange them"));
                }
                Some(Reach { position: position as u32, first: first.value, last: last.value })
            }
            _ if spec.kind.value == FaultName::OutOfBounds => {
                return Err(source
                    .error(&given.span, "how far accesses reach takes `argument`, `first` and `last` together")
                    .help("give all three, or none where that is not known"));
            }
            _ => {
                let what = format!("`argument`, `first` and `last` do not go with `{}`", spec.kind.value.name());
                return Err(source.error(&spec.kind.span, what).help("leave them out"));
            }
        };
        all.push(Faulted { kind: spec.kind.value, reach, at: spec.at.clone() });
    }
    Ok((allows, all))
}

/// Why a device cannot run a test that faults: what it would do there, nobody knows. `None`: it can.
pub fn refusal(test: &Test, interface: &Interface) -> Option<String> {
    if !test.launch.allows_faults {
        return None;
    }
    if test.faulted.is_empty() {
        return Some("it does not say what faults (`faulted`)".to_owned());
    }
    test.faulted.iter().find_map(|fault| {
        let Some(reach) = &fault.reach else {
            return Some(match fault.kind {
                FaultName::OutOfBounds => "it does not say how far accesses out of bounds reach".to_owned(),
                kind => format!("nobody knows what a device does at a fault of the kind `{}`", kind.name()),
            });
        };
        let arg = interface.args.get(reach.position as usize)?;
        let Some(ArgValue::Buffer(bytes)) = test.launch.args.get(reach.position as usize) else { return None };
        let element = element(arg);
        let (has, needs) =
            (test.launch.margin(reach.position as usize) / element, reach.margin(bytes.len() as u64 / element));
        (has < needs).then(|| {
            format!("`{}` is accessed {needs} elements beyond its ends, and has a margin of {has}", arg.label())
        })
    })
}
