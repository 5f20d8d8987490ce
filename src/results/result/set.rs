//! The result of a command for several kernels: those of several suites, or those that a host program launched.

use kassay_base::error::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cover::{CoverResult, Coverage, LoopApplicable, LoopCoverage, TestStatus};
use super::mutate::{self, MutateResult, Summary};
use super::mutate_summary::Tally;
use super::{Header, Ratio};

/// The results of several kernels, with what they sum up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetResult<R, T> {
    /// The fields that every result begins with. `kernel` names all kernels, joined by commas; of a host program,
    /// `source` is the program and `device` the device that ran the kernels; `kernels` have their own.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds of everything.
    pub elapsed_s: f64,
    /// The host program; nothing for suites.
    #[serde(flatten)]
    pub program: Option<ProgramRun>,
    /// One entry per suite, in their order, or per kernel of the host program, in the order of their first launches.
    /// The same kernel of another program object, built with other options or for another device, is another kernel.
    pub kernels: Vec<KernelResult<R>>,
    /// The same summary over all kernels.
    pub total: T,
    /// Kernels without a result.
    pub failed: Vec<Failed>,
    /// Launches of a host program that the result says nothing about, by reason.
    pub left_out: Vec<LeftOut>,
    /// What is not as it was asked for: thresholds that were missed, and the like, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

/// How a host program ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramRun {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its exit code; null if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Processes that made OpenCL calls: the program, and what it started.
    pub processes: u64,
    /// Wall-clock seconds of the program.
    pub program_s: f64,
    /// For mutants: a hash of what was asked for, by which `--resume` knows a complete result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// The result of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelResult<R> {
    /// The result, as the command gives it for a kernel alone.
    #[serde(flatten)]
    pub result: R,
    /// The suite; null for kernels of a host program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// For a host program: the id of the program object, a hash of code, options and device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// For a host program: the launches that the driver took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<u64>,
    /// For a host program with `--unite`: the variants of the kernel that are united here, in the order of their first
    /// launches; nothing where there is one alone. `program` is that of the first, whose text places are in, `launches`
    /// the sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<KernelVariant>,
}

impl<R> KernelResult<R> {
    /// A kernel of a suite.
    pub fn of_suite(result: R, suite: Option<String>) -> KernelResult<R> {
        KernelResult { result, suite, program: None, launches: None, variants: Vec::new() }
    }

    /// A kernel that a host program launched.
    pub fn of_program(result: R, program: &str, launches: u64) -> KernelResult<R> {
        let (program, launches) = (Some(program.to_owned()), Some(launches));
        KernelResult { result, suite: None, program, launches, variants: Vec::new() }
    }
}

/// One of several programs with a kernel whose texts differ in nothing but the macros that are defined in front of
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelVariant {
    /// The id of the program object.
    pub program: String,
    /// The launches that the driver took.
    pub launches: u64,
    /// Macros that are defined in front of the text, and by options: `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Build options, as the program gave them.
    pub options: String,
    /// Names of its tests.
    pub tests: Vec<String>,
}

/// A kernel without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// Its name; null if even that is not known.
    pub kernel: Option<String>,
    /// The suite; null for kernels of a host program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// For a host program: the id of the program object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Why there is none.
    pub error: String,
    /// Whose fault it is; null for kernels of a host program, unless its device takes no SPIR-V.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// Whose fault it is that there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The caller's: the suite or the kernel is wrong.
    Caller,
    /// The environment lacks something.
    Environment,
    /// That of kassay, or of a tool that it calls.
    Kassay,
}

impl Fault {
    /// Returns whose fault an error is.
    pub fn of(error: &Error) -> Fault {
        match error {
            Error::Caller(_) => Fault::Caller,
            Error::Environment(_) => Fault::Environment,
            Error::Internal(_) => Fault::Kassay,
        }
    }
}

/// Launches of a host program that the result says nothing about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The kernel; null if it is not known which, or all are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The id of the program object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// A word for the reason.
    pub reason: String,
    /// The reason in words.
    pub meaning: String,
    /// Number of launches.
    pub count: u64,
}

impl LeftOut {
    /// The reason of launches on a device that takes no SPIR-V.
    pub const NO_IL: &str = "no-il";

    /// What to complain of where the woven kernel does something else than the program's own.
    pub fn complaint(&self) -> String {
        let kernel = self.kernel.as_deref().unwrap_or("a kernel");
        format!("the program's own {kernel} stays, because the woven one does something else: {}", self.meaning)
    }
}

/// A result of a command that sets of kernels can have.
pub trait InSet: Sized {
    /// What the results of a set sum up to.
    type Total;

    /// What is kept of results while they are summed up.
    type Sum: Default;

    /// The command, as in `kassay cover`.
    const COMMAND: &'static str;

    /// The value of `schema` in results of sets.
    const SET_SCHEMA: &'static str;

    /// The fields that the result begins with.
    fn header(&self) -> &Header;

    /// Returns what is not as it was asked for.
    fn complaints(&self) -> &[String] {
        &[]
    }

    /// Returns the remarks for the reader.
    fn notes(&self) -> &[String];

    /// Adds this result to a sum.
    fn add_to(&self, sum: &mut Self::Sum);

    /// Returns what the results of a sum amount to.
    fn total_of(sum: &Self::Sum) -> Self::Total;

    /// Changes the total of a set in which kernels have no result, where it says something of all of them.
    fn count_missing(_total: &mut Self::Total) {}

    /// Returns what makes the result a finding, for which the command's exit code is 1, a sentence each; what was asked
    /// for by flags alone is no part of it.
    fn findings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Records what is not as it was asked for, where the result does not tell itself.
    fn complain(&mut self, _complaints: &[String]) {}

    /// Sums results up.
    fn total<'a>(results: impl Iterator<Item = &'a Self>) -> Self::Total
    where
        Self: 'a,
    {
        let mut sum = Self::Sum::default();
        results.for_each(|result| result.add_to(&mut sum));
        Self::total_of(&sum)
    }
}

/// The result of `kassay cover` for several kernels.
pub type CoverSet = SetResult<CoverResult, Coverage>;

/// The result of `kassay mutate` for several kernels.
pub type MutateSet = SetResult<MutateResult, Summary>;

impl<R: InSet> SetResult<R, R::Total> {
    /// Makes the result of a set. `header` has the schema [`InSet::SET_SCHEMA`].
    pub fn new(header: Header, program: Option<ProgramRun>, kernels: Vec<KernelResult<R>>) -> Self {
        let total = R::total(kernels.iter().map(|kernel| &kernel.result));
        let (failed, left_out, complaints, notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        SetResult { header, elapsed_s: 0.0, program, kernels, total, failed, left_out, complaints, notes }
    }

    /// Makes the set of one that the result of a kernel alone is: it has the header of that.
    pub fn of_one(result: R) -> Self {
        SetResult::new(result.header().clone(), None, vec![KernelResult::of_suite(result, None)])
    }

    /// Whether it is the result for several kernels, or was to be; not [`SetResult::of_one`].
    pub fn is_set(&self) -> bool {
        self.header.schema == R::SET_SCHEMA
    }

    /// Returns the result of [`SetResult::of_one`].
    ///
    /// # Errors
    /// The set, if it is for several kernels.
    pub fn into_one(mut self) -> Result<R, Box<Self>> {
        match self.kernels.pop() {
            Some(kernel) if !self.is_set() => Ok(kernel.result),
            last => {
                self.kernels.extend(last);
                Err(Box::new(self))
            }
        }
    }

    /// Whether there are no kernels because the program's device takes no SPIR-V.
    pub fn lacks_il(&self) -> bool {
        self.kernels.is_empty() && self.failed.iter().any(|failed| failed.fault == Some(Fault::Environment))
    }
}

/// A set of results, whatever the command.
pub trait AnySet {
    /// Returns the command, as in `kassay cover`.
    fn command(&self) -> &'static str;

    /// Whether it is the result for several kernels, not that of a kernel alone.
    fn is_set(&self) -> bool;

    /// Returns the fields that the result begins with.
    fn header(&self) -> &Header;

    /// Returns how the host program ran.
    fn program(&self) -> Option<&ProgramRun>;

    /// Returns the suites of the kernels, with and without a result.
    fn suites(&self) -> Vec<&str>;

    /// Returns the number of kernels with a result.
    fn count(&self) -> usize;

    /// Returns the kernels without a result.
    fn failed(&self) -> &[Failed];

    /// Returns the launches that the result says nothing about.
    fn left_out(&self) -> &[LeftOut];

    /// Returns what of all kernels together is not as it was asked for.
    fn complaints(&self) -> &[String];

    /// Returns the remarks for the reader, without those of the kernels.
    fn notes(&self) -> &[String];
}

impl<R: InSet> AnySet for SetResult<R, R::Total> {
    fn command(&self) -> &'static str {
        R::COMMAND
    }

    fn is_set(&self) -> bool {
        self.is_set()
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn program(&self) -> Option<&ProgramRun> {
        self.program.as_ref()
    }

    fn suites(&self) -> Vec<&str> {
        let of_kernels = self.kernels.iter().filter_map(|kernel| kernel.suite.as_deref());
        of_kernels.chain(self.failed.iter().filter_map(|failed| failed.suite.as_deref())).collect()
    }

    fn count(&self) -> usize {
        self.kernels.len()
    }

    fn failed(&self) -> &[Failed] {
        &self.failed
    }

    fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    fn complaints(&self) -> &[String] {
        &self.complaints
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl InSet for CoverResult {
    type Total = Coverage;
    type Sum = Coverage;

    const COMMAND: &'static str = "cover";
    const SET_SCHEMA: &'static str = "kassay.cover-set/1";

    fn header(&self) -> &Header {
        &self.header
    }

    fn complaints(&self) -> &[String] {
        &self.complaints
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn findings(&self) -> Vec<String> {
        let ended = self.tests.iter().filter(|test| test.status != TestStatus::Completed).count();
        let early = (ended > 0).then(|| format!("{ended} of {} tests did not complete", self.tests.len()));
        early.into_iter().collect()
    }

    fn add_to(&self, total: &mut Coverage) {
        *total = sum(total, &self.coverage);
    }

    fn total_of(total: &Coverage) -> Coverage {
        total.clone()
    }

    fn complain(&mut self, complaints: &[String]) {
        self.complaints = complaints.to_vec();
    }
}

impl InSet for MutateResult {
    type Total = Summary;
    type Sum = Tally;

    const COMMAND: &'static str = "mutate";
    const SET_SCHEMA: &'static str = "kassay.mutate-set/1";

    fn header(&self) -> &Header {
        &self.header
    }

    fn complaints(&self) -> &[String] {
        &self.complaints
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn findings(&self) -> Vec<String> {
        let dropped = self.tests.iter().filter(|test| test.status == mutate::TestStatus::Dropped).count();
        let dropped = (dropped > 0)
            .then(|| format!("{dropped} of {} tests were dropped: the kernel itself fails them", self.tests.len()));
        dropped.into_iter().chain(self.complaints.iter().cloned()).collect()
    }

    fn add_to(&self, tally: &mut Tally) {
        self.mutants.iter().filter(|mutant| !mutant.is_pair()).for_each(|mutant| tally.add(mutant));
    }

    fn total_of(tally: &Tally) -> Summary {
        tally.summary()
    }
}

/// Adds two kernels' coverage up. The mean of statements is not a sum: it is that of one kernel only.
fn sum(a: &Coverage, b: &Coverage) -> Coverage {
    let optional = |a: Option<Ratio>, b: Option<Ratio>| match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (one, other) => one.or(other),
    };
    Coverage {
        branch: a.branch.plus(b.branch),
        condition: a.condition.plus(b.condition),
        loops: LoopCoverage {
            total: a.loops.total.saturating_add(b.loops.total),
            zero: a.loops.zero.saturating_add(b.loops.zero),
            one: a.loops.one.saturating_add(b.loops.one),
            many: a.loops.many.saturating_add(b.loops.many),
            boundary: a.loops.boundary.saturating_add(b.loops.boundary),
            applicable: LoopApplicable {
                zero: a.loops.applicable.zero.saturating_add(b.loops.applicable.zero),
                boundary: a.loops.applicable.boundary.saturating_add(b.loops.applicable.boundary),
            },
        },
        barrier: a.barrier.plus(b.barrier),
        line: a.line.plus(b.line),
        statement: a.statement.plus(b.statement),
        least_branch: a.least_branch.plus(b.least_branch),
        mcdc: optional(a.mcdc, b.mcdc),
        def_use: optional(a.def_use, b.def_use),
        def_use_inter_item: optional(a.def_use_inter_item, b.def_use_inter_item),
        average_statement: None,
    }
}

fn add(a: Ratio, b: Ratio) -> Ratio {
    a.plus(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(covered: u64, total: u64, mcdc: Option<Ratio>) -> KernelResult<CoverResult> {
        let coverage = Coverage { branch: Ratio { covered, total }, mcdc, ..Coverage::default() };
        let header = Header::new(CoverResult::SCHEMA, "k".to_owned(), "k.cl".to_owned(), None, 0);
        let (sites, tests, notes) = (Vec::new(), Vec::new(), Vec::new());
        let result = CoverResult {
            header,
            elapsed_s: 0.5,
            coverage,
            def_use: None,
            sites,
            mcdc: None,
            tests,
            overhead: None,
            complaints: Vec::new(),
            notes,
        };
        KernelResult::of_program(result, "p", 3)
    }

    #[test]
    fn a_set_sums_up_and_reads_back() {
        let program = ProgramRun {
            command: vec!["./host".to_owned()],
            exit_code: Some(0),
            signal: None,
            processes: 1,
            program_s: 0.25,
            request: None,
        };
        let header = Header::new(CoverResult::SET_SCHEMA, "k, k".to_owned(), "./host".to_owned(), None, 0);
        let one = Ratio { covered: 1, total: 2 };
        let set = CoverSet::new(header, Some(program), vec![result(1, 4, None), result(2, 2, Some(one))]);
        assert_eq!((set.total.branch, set.total.mcdc), (Ratio { covered: 3, total: 6 }, Some(one)));
        let text = serde_json::to_string(&set).unwrap();
        assert_eq!(serde_json::from_str::<CoverSet>(&text).unwrap(), set);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["schema"], "kassay.cover-set/1");
        assert_eq!((&json["exit_code"], &json["kernels"][1]["program"]), (&0.into(), &"p".into()));
        // Each entry is a whole result of the command.
        let kernel: CoverResult = serde_json::from_value(json["kernels"][0].clone()).unwrap();
        assert_eq!(kernel, set.kernels[0].result);
    }

    #[test]
    fn a_set_of_suites_has_no_program() {
        let header = Header::new(CoverResult::SET_SCHEMA, "k".to_owned(), "a.toml".to_owned(), None, 0);
        let set = CoverSet::new(header, None, vec![result(0, 0, None)]);
        let text = serde_json::to_string(&set).unwrap();
        assert!(!text.contains("exit_code"));
        assert_eq!(serde_json::from_str::<CoverSet>(&text).unwrap().program, None);
    }
}
