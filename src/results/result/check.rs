//! The result of `kassay check`.

use std::collections::{BTreeMap, BTreeSet};

use kassay_suite::faults::FaultClass;
use kassay_suite::schedule::Schedule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::amplification::Amplification;
use super::causes::Cause;
use super::proofs::{Length, Proof};
use super::repairs::Repair;
pub use super::scope::Scope;
use super::set::{InSet, SetResult};
use super::{Device, Header, Location};

/// The result of `kassay check`: races, barrier divergence, memory faults and redundant barriers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// The fields that every result begins with.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// The verdict on the kernel over all inputs.
    pub verdict: Verdict,
    /// With the verdict `conditional`: what launches have to keep to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<LaunchCondition>,
    /// Which interleavings of the explored inputs the verdict holds for.
    pub holds_for: HoldsFor,
    /// Reasons why it does not hold for all interleavings, a sentence each.
    pub holds_for_because: Vec<String>,
    /// Races first, then divergences, faults and findings that do not affect the verdict; each in source order.
    pub findings: Vec<Finding>,
    /// The launches that were run.
    pub inputs: Vec<Input>,
    /// Every barrier that some work-item could reach.
    pub barriers: Vec<Barrier>,
    /// Null with `--no-amplify`.
    pub amplification: Option<Amplification>,
    /// What is proved for launches that were not run; empty with `--no-prove`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<Proof>,
    /// How many elements buffers need, of those of which that is proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<Length>,
    /// With `--fix` or `--write`: changes of the source that mend findings, and why others cannot be mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// The device of the first pass, which looks for races in inputs that the simulator does not finish (`--device`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_pass: Option<Device>,
    /// The verdict holds if so many consecutive work-items of a work-group run in lockstep (`--warp-sync`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp_sync: Option<u32>,
    /// Numbers of findings, inputs, launches and barriers.
    pub summary: Summary,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

/// A condition under which a kernel is clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchCondition {
    /// As text, with expressions of the kernel's language in backquotes.
    pub text: String,
    /// The single conditions, of which all have to hold.
    pub all_of: Vec<String>,
    /// Names of the inputs that satisfy it: they ran to completion, and nothing that sets the verdict was found.
    pub inputs: Vec<String>,
}

/// Says what a verdict with [`CheckResult::warp_sync`] takes for granted.
pub fn lockstep(items: u32) -> String {
    format!("if warps of {items} consecutive work-items run in lockstep (--warp-sync {items})")
}

/// The checks of several kernels together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckTotal {
    /// The first that applies of racy, divergent and memory-fault; otherwise unknown if there is no kernel, or one that
    /// could not be checked; otherwise conditional if one is.
    pub verdict: Verdict,
    /// Numbers of findings, inputs, launches and barriers of all kernels.
    pub summary: Summary,
}

/// The result of `kassay check` for several kernels.
pub type CheckSet = SetResult<CheckResult, CheckTotal>;

impl CheckTotal {
    /// Counts a kernel that could not be checked.
    pub fn add_unknown(&mut self) {
        if matches!(self.verdict, Verdict::Clean | Verdict::Conditional) {
            self.verdict = Verdict::Unknown;
        }
    }
}

impl InSet for CheckResult {
    type Total = CheckTotal;
    type Sum = (Summary, BTreeSet<Verdict>);

    const COMMAND: &'static str = "check";
    const SET_SCHEMA: &'static str = "kassay.check-set/1";

    fn header(&self) -> &Header {
        &self.header
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn findings(&self) -> Vec<String> {
        match self.verdict {
            Verdict::Clean | Verdict::Conditional => Vec::new(),
            verdict => vec![format!("the verdict is {}", verdict.name())],
        }
    }

    /// Not all kernels are known to be clean.
    fn count_missing(total: &mut CheckTotal) {
        total.add_unknown();
    }

    fn add_to(&self, (summary, verdicts): &mut Self::Sum) {
        verdicts.insert(self.verdict);
        let own = &self.summary;
        for (kind, count) in &own.findings {
            let sum = summary.findings.entry(kind.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        summary.inputs = summary.inputs.saturating_add(own.inputs);
        summary.completed = summary.completed.saturating_add(own.completed);
        summary.launches = summary.launches.saturating_add(own.launches);
        summary.redundant_barriers = summary.redundant_barriers.saturating_add(own.redundant_barriers);
        summary.barriers = summary.barriers.saturating_add(own.barriers);
    }

    fn total_of((summary, verdicts): &Self::Sum) -> CheckTotal {
        let is_finding =
            |verdict: &Verdict| matches!(verdict, Verdict::Racy | Verdict::Divergent | Verdict::MemoryFault);
        let found = verdicts.iter().copied().find(is_finding);
        // Unknown comes after conditional, and that after clean.
        let verdict = found.or(verdicts.last().copied()).unwrap_or(Verdict::Unknown);
        CheckTotal { verdict, summary: summary.clone() }
    }
}

impl CheckResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.check/1";

    /// Returns the result with its reasons in the words of the kernel's language. Assumptions and notes stay: names are
    /// not quoted in them, and `group` may be one.
    #[must_use]
    pub fn in_words(mut self) -> CheckResult {
        let words = self.header.words();
        let of_inputs = self.inputs.iter_mut().flat_map(|input| &mut input.reason);
        let of_barriers = self.barriers.iter_mut().map(|barrier| &mut barrier.reason);
        of_inputs.chain(of_barriers).for_each(|text| words.put(text));
        self
    }
}

/// The verdict on a kernel; the first that applies of racy, divergent and memory-fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// At least one input completed, with no findings except redundant barriers and reads of uninitialised memory.
    Clean,
    /// Accesses race.
    Racy,
    /// Work-items wait at a barrier that others of their group do not reach.
    Divergent,
    /// An access out of bounds, through a null pointer, misaligned, or other than the memory is for; a division that
    /// traps; a loop that does not end; an assertion that fails; an asynchronous copy that nothing waits for.
    MemoryFault,
    /// Something was found, but nothing in launches that keep to a condition (`condition`); those that show it are
    /// launches that kassay made.
    Conditional,
    /// No input completed, and nothing was found.
    Unknown,
}

impl Verdict {
    /// Returns the name as spelt in results.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Racy => "racy",
            Verdict::Divergent => "divergent",
            Verdict::MemoryFault => "memory-fault",
            Verdict::Conditional => "conditional",
            Verdict::Unknown => "unknown",
        }
    }

    /// Whether nothing is held against the kernel; `strict`: nor against launches of it that a host need not make.
    pub fn passes(self, strict: bool) -> bool {
        match self {
            Verdict::Clean => true,
            Verdict::Conditional => !strict,
            Verdict::Racy | Verdict::Divergent | Verdict::MemoryFault | Verdict::Unknown => false,
        }
    }
}

/// The interleavings of an explored input for which a verdict holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HoldsFor {
    /// Every interleaving of the explored inputs: all of them completed, and nothing that depends on the interleaving
    /// decides what is accessed.
    AllInterleavings,
    /// Only the schedules that were run; `holds_for_because` has the reasons.
    ExploredSchedules,
}

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Conflicting accesses of two work-items that nothing orders (docs/simulator.md, "Races").
    DataRace,
    /// Work-items of a group do not arrive at the same barrier in the same iteration, or pass different arguments or
    /// events to a function that the entire group calls.
    BarrierDivergence,
    /// An access outside its buffer, image or variable, or outside an array in it (`within_object`).
    OutOfBounds,
    /// An access through a null pointer: to an address below 4096.
    NullAccess,
    /// A write to constant memory, or to a buffer that the host has made for reading only.
    ReadOnlyWrite,
    /// A read of a buffer that the host has made for writing only.
    WriteOnlyRead,
    /// An access at an address that is not aligned for its type.
    Misaligned,
    /// An integer division by zero, or of the least integer by -1.
    Division,
    /// A loop that does not end within the time limit of a launch.
    NonTermination,
    /// An assertion that fails, or another trap (`__trap`, `__builtin_trap`).
    Assertion,
    /// An asynchronous copy whose event nothing waits for before its work-group ends.
    UnawaitedCopy,
    /// A read of local memory that no work-item of the group has written.
    Uninitialised,
    /// A barrier without which no explored input shows a conflict.
    RedundantBarrier,
}

impl FindingKind {
    /// Returns the name as spelt in results.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::DataRace => "data-race",
            FindingKind::BarrierDivergence => "barrier-divergence",
            FindingKind::OutOfBounds => FaultClass::OutOfBounds.name(),
            FindingKind::NullAccess => FaultClass::NullAccess.name(),
            FindingKind::ReadOnlyWrite => FaultClass::ReadOnlyWrite.name(),
            FindingKind::WriteOnlyRead => FaultClass::WriteOnlyRead.name(),
            FindingKind::Misaligned => FaultClass::Misaligned.name(),
            FindingKind::Division => FaultClass::Division.name(),
            FindingKind::NonTermination => FaultClass::NonTermination.name(),
            FindingKind::Assertion => FaultClass::Assertion.name(),
            FindingKind::UnawaitedCopy => FaultClass::UnawaitedCopy.name(),
            FindingKind::Uninitialised => FaultClass::Uninitialised.name(),
            FindingKind::RedundantBarrier => "redundant-barrier",
        }
    }
}

/// The memory accessed: an address space, or an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// Global memory.
    Global,
    /// Local memory.
    Local,
    /// Private memory: a variable of a work-item.
    Private,
    /// Constant memory.
    Constant,
    /// An image that is passed as an argument.
    Image,
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A read that is not atomic.
    Read,
    /// A write that is not atomic.
    Write,
    /// An atomic operation, including atomic loads and stores.
    Atomic,
}

/// A finding. Keys that do not apply to its kind are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What was found.
    pub kind: FindingKind,
    /// For races: within a work-group or between work-groups.
    pub scope: Option<Scope>,
    /// The memory accessed.
    pub memory: Option<Memory>,
    /// Name of the argument or variable accessed.
    pub variable: Option<String>,
    /// Element accessed in the example; negative before the start.
    pub index: Option<i64>,
    /// For accesses out of bounds: true if the index leaves an inner array (a row, a struct member) but may stay within
    /// the enclosing object.
    pub within_object: Option<bool>,
    /// For races: both accesses are writes, and wrote equal values whenever they conflicted.
    pub benign: bool,
    /// For races the number of elements, for divergences of work-groups, otherwise of occurrences; over all inputs.
    pub count: u64,
    /// The accesses of the example; two for races. A barrier, a division or a loop has no mode.
    pub accesses: Vec<Access>,
    /// For divergences: the work-items that had finished while others waited.
    pub finished: Option<Items>,
    /// For divergences: the branch or loop at which the work-items diverged, if known.
    pub branch: Option<Branch>,
    /// Explanation in a sentence.
    pub message: String,
    /// For races: what it comes from (docs/causes.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Name of the first input that shows it.
    pub input: Option<String>,
    /// Number of inputs that show it.
    pub inputs: u64,
    /// With the verdict `conditional`: what fails in all launches that show it, a part of the condition or all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless: Option<String>,
    /// Schedule that shows it; empty: the natural one.
    pub schedule: Schedule,
    /// For races: two schedules after which the outputs differ.
    pub witness: Option<Witness>,
    /// With `--reproduce`: path of a suite file that reproduces it.
    pub reproduction: Option<String>,
    /// Name of the device of the first pass, if only that one has shown the race: the simulator did not repeat it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_on: Option<String>,
}

/// An access of a work-item, or a barrier at which work-items wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// Name of the function that contains it.
    pub function: String,
    /// Locations of the calls that lead to it, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_from: Vec<Location>,
    /// Kind of the access; null for a barrier, a division or a loop.
    pub mode: Option<Mode>,
    /// Global id of the work-item, for a barrier of one that waits there; null for redundant barriers.
    pub global_id: Option<[u64; 3]>,
    /// Id of that work-item's work-group; null for redundant barriers.
    pub group_id: Option<[u64; 3]>,
    /// The builtin function that makes the access or at which the work-items wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// Number of bytes accessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// For races of arguments that share memory: what the access calls the element, such as `y[0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// For barriers: number of work-items that wait there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// A number of work-items of a group, with the global id of one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Items {
    /// Number of work-items, at least 1.
    pub items: u64,
    /// Global id of one of them; null if unknown.
    pub global_id: Option<[u64; 3]>,
}

/// A branch or loop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// Its location in the source.
    #[serde(flatten)]
    pub location: Location,
    /// `if`, `switch`, `?:`, `for`, `while` or `do`; `branch` if the IR does not show it.
    pub construct: String,
}

/// Two schedules of an input after which an output differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// The schedule of the input, and the one that changes an output.
    pub schedules: [Schedule; 2],
    /// Name of the argument, or its position.
    pub argument: String,
    /// Index of the first element that differs.
    pub index: u64,
    /// Field or vector component that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Values after each of the two schedules.
    pub values: [String; 2],
}

/// A launch that was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// Name of the test, or the one that kassay gave to an input that it made.
    pub name: String,
    /// `suite`, `generated`, `solved`, `evolved` or `program`.
    pub origin: String,
    /// For a launch of a host program: which one it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostLaunch>,
    /// Global size, one entry per dimension of the launch.
    pub global: Vec<u64>,
    /// Work-group size, one entry per dimension of the launch.
    pub local: Vec<u64>,
    /// Number of work-groups of the launch, including those that were not run.
    pub work_groups: u64,
    /// Number of work-groups run, if the launch is too large to observe completely; null: all.
    pub groups_run: Option<u64>,
    /// Whether every work-item finished.
    pub completed: bool,
    /// Reason why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of findings that it shows.
    pub findings: u64,
    /// Schedule of the run; empty: the natural one.
    #[serde(default, skip_serializing_if = "Schedule::is_natural")]
    pub schedule: Schedule,
    /// Assumptions under which it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<String>,
    /// With `--evolve`: distinct addresses accessed, divided by the sum over them of the accessing threads
    /// (SIMULEE 3.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<f64>,
    /// What the first pass on a device saw, if it looked at this input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceRun>,
}

impl Input {
    /// Returns whether the simulator ran it to its end, or a device did and found no race.
    pub fn is_finished(&self) -> bool {
        self.completed || self.device.as_ref().is_some_and(|run| run.verdict == DeviceVerdict::Clean)
    }
}

/// The search for races in an input on a device. It looks for nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceRun {
    /// What was found.
    pub verdict: DeviceVerdict,
    /// Reason for `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For `clean`: the interleavings of this input in which no accesses race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_for: Option<HoldsFor>,
    /// Pairs of accesses in the code that race.
    pub pairs: u64,
    /// For `racy`: name of the input in which the simulator repeated a race; null if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<String>,
    /// Milliseconds that the launch took on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_ms: Option<f64>,
}

/// What the first pass says of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceVerdict {
    /// The launch completed, and no accesses race.
    Clean,
    /// Accesses race.
    Racy,
    /// The launch was not run or did not complete, or not all of it could be seen.
    Unknown,
}

/// A launch of a host program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostLaunch {
    /// Its number among the launches of the kernel in its process, from 1.
    pub launch: u64,
    /// The number of the process.
    pub process: u64,
    /// The number of the host thread; that of the process for its first thread.
    pub thread: u64,
}

/// A barrier of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Barrier {
    /// Location of the call; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// Name of the function that contains it.
    pub function: String,
    /// Name of the builtin function that is called, such as `barrier` or `work_group_reduce_add`.
    pub builtin: String,
    /// Number of explored inputs in which some work-item of a group of several reached it.
    pub reached: u64,
    /// Whether ignoring it causes no finding in any explored input; null: not tried.
    pub redundant: Option<bool>,
    /// Result of ignoring it, or the reason why that was not tried.
    pub reason: String,
}

/// Numbers of findings, inputs, launches and barriers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Findings by kind.
    pub findings: BTreeMap<String, u64>,
    /// Number of inputs.
    pub inputs: u64,
    /// Inputs in which every work-item finished.
    pub completed: u64,
    /// All launches, including those that tested barriers for redundancy or searched for schedules.
    pub launches: u64,
    /// Redundant barriers.
    pub redundant_barriers: u64,
    /// All barriers that some work-item could reach, redundant or not.
    pub barriers: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(verdict: Verdict) -> CheckResult {
        CheckResult {
            header: Header::new(CheckResult::SCHEMA, "k".to_owned(), "k.cl".to_owned(), None, 0),
            elapsed_s: 0.0,
            verdict,
            holds_for: HoldsFor::ExploredSchedules,
            holds_for_because: Vec::new(),
            findings: Vec::new(),
            inputs: Vec::new(),
            barriers: Vec::new(),
            amplification: None,
            proofs: Vec::new(),
            lengths: Vec::new(),
            repairs: Vec::new(),
            condition: None,
            first_pass: None,
            warp_sync: None,
            summary: Summary { inputs: 2, ..Summary::default() },
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_worst_verdict_is_that_of_the_set() {
        use Verdict::{Clean, Conditional, Divergent, MemoryFault, Racy, Unknown};
        let total = |verdicts: &[Verdict]| {
            let results: Vec<CheckResult> = verdicts.iter().map(|verdict| result(*verdict)).collect();
            CheckResult::total(results.iter())
        };
        assert_eq!(total(&[Clean, Clean]).verdict, Clean);
        assert_eq!(total(&[Clean, Unknown]).verdict, Unknown);
        assert_eq!(total(&[Clean, Conditional, Clean]).verdict, Conditional);
        assert_eq!(total(&[Conditional, Unknown]).verdict, Unknown);
        assert_eq!(total(&[Conditional, MemoryFault, Unknown]).verdict, MemoryFault);
        assert_eq!(total(&[]).verdict, Unknown);
        assert_eq!(total(&[MemoryFault, Unknown, Divergent, Clean]).verdict, Divergent);
        assert_eq!(total(&[MemoryFault, Racy]).verdict, Racy);
        assert_eq!(total(&[Clean, Racy]).summary.inputs, 4);
        let mut open = total(&[Clean]);
        open.add_unknown();
        assert_eq!(open.verdict, Unknown);
    }
}
