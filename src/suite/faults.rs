//! Resolves the faults that a test allows and decides whether a device can run such a test.

use kassay_base::error::Result;
use kassay_model::interface::{Arg, ArgKind, Interface};

use super::document::{Source, suggestion};
use super::format::{FaultName, TestEntry};
use super::launch::Launch;

/// A fault that the kernel commits in a test which allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedFault {
    /// The kind of the fault.
    pub kind: FaultName,
    /// For accesses out of bounds: the buffer that they miss and the elements that they reach.
    pub reach: Option<Reach>,
    /// Source location, for human readers.
    pub at: Option<String>,
}

/// The range of elements that accesses to a buffer reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Position of the argument.
    pub position: u32,
    /// The first element; negative before the start of the buffer.
    pub first: i64,
    /// The last element; negative before the start of the buffer.
    pub last: i64,
}

/// A class of faults, with its name in suites and results and its words in reports and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultClass {
    /// An access outside its object.
    OutOfBounds,
    /// An access through a null pointer.
    NullAccess,
    /// A write to constant memory, or to a buffer that the host has made for reading only.
    ReadOnlyWrite,
    /// A read of a buffer that the host has made for writing only.
    WriteOnlyRead,
    /// An access at an address that is no multiple of the type's alignment.
    Misaligned,
    /// A division of integers by 0, or one that overflows.
    Division,
    /// A loop that does not end.
    NonTermination,
    /// An assertion that fails, or another trap.
    Assertion,
    /// An asynchronous copy for whose event nothing waits.
    UnawaitedCopy,
    /// A read of local memory that no work-item of the group has written.
    Uninitialised,
}

impl FaultClass {
    /// Returns the name as spelt in suites and results.
    pub fn name(self) -> &'static str {
        match self {
            FaultClass::OutOfBounds => "out-of-bounds",
            FaultClass::NullAccess => "null-access",
            FaultClass::ReadOnlyWrite => "read-only-write",
            FaultClass::WriteOnlyRead => "write-only-read",
            FaultClass::Misaligned => "misaligned",
            FaultClass::Division => "division",
            FaultClass::NonTermination => "non-termination",
            FaultClass::Assertion => "assertion",
            FaultClass::UnawaitedCopy => "unawaited-copy",
            FaultClass::Uninitialised => "uninitialised",
        }
    }

    /// Returns a description, without an article.
    pub fn words(self) -> &'static str {
        match self {
            FaultClass::OutOfBounds => "access out of bounds",
            FaultClass::NullAccess => "access through a null pointer",
            FaultClass::ReadOnlyWrite => "write to read-only memory",
            FaultClass::WriteOnlyRead => "read of write-only memory",
            FaultClass::Misaligned => "misaligned access",
            FaultClass::Division => "division that traps",
            FaultClass::NonTermination => "loop without end",
            FaultClass::Assertion => "failed assertion",
            FaultClass::UnawaitedCopy => "asynchronous copy that nothing waits for",
            FaultClass::Uninitialised => "read of uninitialised memory",
        }
    }

    /// Returns a description, with the indefinite article.
    pub fn indefinite(self) -> String {
        let words = self.words();
        let article = if words.starts_with('a') { "an" } else { "a" };
        format!("{article} {words}")
    }
}

impl FaultName {
    /// Returns the name as spelt in suites and results.
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
    /// Returns the margin in elements that a buffer of `elements` elements needs on either side.
    pub fn margin(&self, elements: u64) -> u64 {
        let after = u64::try_from(self.last).map_or(0, |last| last.saturating_add(1).saturating_sub(elements));
        self.first.min(0).unsigned_abs().max(after)
    }
}

/// Returns the size in bytes of an element of an argument; 1 if the kernel's interface does not give the type.
pub fn element_size(arg: &Arg) -> u64 {
    match &arg.kind {
        ArgKind::Buffer { element: Some(ty), .. } => ty.size().max(1),
        _ => 1,
    }
}

/// Returns whether a test allows faults, and the faults that it lists.
///
/// # Errors
/// `Caller`, with its place, if the test lists faults without allowing them, or lists one that does not fit the
/// kernel's arguments.
pub fn resolve(source: &Source, entry: &TestEntry, interface: &Interface) -> Result<(bool, Vec<AllowedFault>)> {
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
        all.push(AllowedFault { kind: spec.kind.value, reach, at: spec.at.clone() });
    }
    Ok((allows, all))
}

/// Returns why a device cannot run a launch that allows faults and commits those `faulted`; `None` if it can. The
/// behaviour of a device is undefined unless every fault is an access out of bounds that stays within the margin of
/// its buffer.
pub fn refusal(launch: &Launch, faulted: &[AllowedFault], interface: &Interface) -> Option<String> {
    if !launch.allows_faults {
        return None;
    }
    if faulted.is_empty() {
        return Some("it does not say what faults (`faulted`)".to_owned());
    }
    faulted.iter().find_map(|fault| {
        let Some(reach) = &fault.reach else {
            return Some(match fault.kind {
                FaultName::OutOfBounds => "it does not say how far accesses out of bounds reach".to_owned(),
                kind => format!("it is not known what a device does at a fault of the kind `{}`", kind.name()),
            });
        };
        let arg = interface.args.get(reach.position as usize)?;
        let (element, bytes) = (element_size(arg), launch.reach(reach.position)?);
        let has = launch.margin(reach.position as usize) / element;
        let needs = reach.margin(bytes / element);
        if needs > 0 && (launch.owner(reach.position) != reach.position || !launch.view(reach.position).is_whole()) {
            let why = "which is a part of a buffer, so that they may be another argument's";
            return Some(format!("`{}` is accessed {needs} elements beyond its ends, {why}", arg.label()));
        }
        (has < needs).then(|| {
            format!("`{}` is accessed {needs} elements beyond its ends, and has a margin of {has}", arg.label())
        })
    })
}
