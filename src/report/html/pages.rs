//! Sorts loaded results by kernel: all that is known of a kernel is on one page of the report.

use std::path::Path;

use crate::error::{Error, Result};
use crate::result::capture::CaptureResult;
use crate::result::check::CheckResult;
use crate::result::compare::{CompareResult, KernelComparison};
use crate::result::cover::CoverResult;
use crate::result::generate::GenerateResult;
use crate::result::inspect;
use crate::result::mutate::MutateResult;
use crate::result::run::RunResult;
use crate::result::schedule::ScheduleResult;
use crate::result::set::{Failed, KernelResult, LeftOut, ProgramRun, SetResult};
use crate::result::store::{AnyResult, ResultFile};

/// A result about a kernel, with the file that it was read from.
pub(super) struct Run<'a, R> {
    pub(super) file: &'a Path,
    pub(super) result: &'a R,
}

/// The runs of one command on a kernel, in the order in which the results were named. The last one is shown, the others
/// are its past.
pub(super) type Runs<'a, R> = Vec<Run<'a, R>>;

/// All that the results say of a kernel.
#[derive(Default)]
pub(super) struct KernelPage<'a> {
    /// Position among the pages.
    pub(super) number: usize,
    pub(super) name: &'a str,
    /// Path of the kernel's file.
    pub(super) source: &'a str,
    /// Of a host program's kernel: the id of the program object.
    pub(super) program: Option<&'a str>,
    /// Of a result for several suites: the suite.
    pub(super) suite: Option<&'a str>,
    /// Of a host program's kernel: its launches.
    pub(super) launches: Option<u64>,
    pub(super) inspected: Option<&'a inspect::Kernel>,
    pub(super) runs: Runs<'a, RunResult>,
    pub(super) covers: Runs<'a, CoverResult>,
    /// By level, in the order of their first results.
    pub(super) mutates: Vec<(&'a str, Runs<'a, MutateResult>)>,
    pub(super) checks: Runs<'a, CheckResult>,
    pub(super) schedules: Runs<'a, ScheduleResult>,
    pub(super) generates: Runs<'a, GenerateResult>,
    pub(super) compared: Vec<&'a KernelComparison>,
}

impl<'a> KernelPage<'a> {
    /// The prefix of the page's anchors.
    pub(super) fn anchor(&self) -> String {
        format!("k{}", self.number)
    }

    /// The coverage that is shown.
    pub(super) fn cover(&self) -> Option<&'a CoverResult> {
        self.covers.last().map(|run| run.result)
    }

    /// The mutants that are shown, by level.
    pub(super) fn mutates(&self) -> impl Iterator<Item = (&'a str, &'a MutateResult)> + '_ {
        self.mutates.iter().filter_map(|(level, runs)| runs.last().map(|run| (*level, run.result)))
    }

    /// The check that is shown.
    pub(super) fn check(&self) -> Option<&'a CheckResult> {
        self.checks.last().map(|run| run.result)
    }

    /// The search that is shown.
    pub(super) fn generate(&self) -> Option<&'a GenerateResult> {
        self.generates.last().map(|run| run.result)
    }
}

/// What a result for several kernels says besides the kernels' own results.
pub(super) struct SetPage<'a> {
    pub(super) file: &'a Path,
    pub(super) command: &'static str,
    pub(super) program: Option<&'a ProgramRun>,
    pub(super) kernels: usize,
    pub(super) failed: &'a [Failed],
    pub(super) left_out: &'a [LeftOut],
    pub(super) notes: &'a [String],
}

/// The pages of a report.
#[derive(Default)]
pub(super) struct Pages<'a> {
    pub(super) kernels: Vec<KernelPage<'a>>,
    pub(super) sets: Vec<SetPage<'a>>,
    pub(super) captures: Runs<'a, CaptureResult>,
    pub(super) comparisons: Runs<'a, CompareResult>,
    /// Version of kassay that wrote the first result.
    pub(super) version: &'a str,
    /// Pages that the file at hand has already given something to: a kernel that occurs twice in it is two kernels.
    used: Vec<(usize, &'static str)>,
}

/// What tells kernels apart.
#[derive(Clone, Copy)]
struct Key<'a> {
    name: &'a str,
    source: &'a str,
    program: Option<&'a str>,
    suite: Option<&'a str>,
    launches: Option<u64>,
}

impl<'a> Key<'a> {
    fn of<R>(result: &'a KernelResult<R>, name: &'a str, source: &'a str) -> Key<'a> {
        let program = result.program.as_deref();
        Key { name, source, program, suite: result.suite.as_deref(), launches: result.launches }
    }
}

impl<'a> Pages<'a> {
    /// Sorts results.
    ///
    /// # Errors
    /// `Caller` if there is a result that is not about kernels.
    pub(super) fn of(results: &'a [ResultFile]) -> Result<Pages<'a>> {
        let mut pages = Pages::default();
        for (file, result) in results {
            pages.used.clear();
            pages.add(file, result)?;
        }
        Ok(pages)
    }

    fn add(&mut self, file: &'a Path, result: &'a AnyResult) -> Result<()> {
        let header = match result {
            AnyResult::Devices(_) => {
                return Err(Error::caller(format!(
                    "{} is a result of `kassay devices`: HTML reports show what is known of kernels",
                    file.display()
                ))
                .help("name results of commands that work on kernels, such as `kassay cover` and `kassay mutate`"));
            }
            AnyResult::Inspect(r) => {
                for kernel in &r.kernels {
                    self.page("inspect", plain(&kernel.name, &r.header.source)).inspected = Some(kernel);
                }
                &r.header
            }
            AnyResult::Run(r) => {
                self.page("run", plain(&r.header.kernel, &r.header.source)).runs.push(Run { file, result: r });
                &r.header
            }
            AnyResult::Cover(r) => {
                self.page("cover", plain(&r.header.kernel, &r.header.source)).covers.push(Run { file, result: r });
                &r.header
            }
            AnyResult::CoverSet(set) => {
                for kernel in &set.kernels {
                    let header = &kernel.result.header;
                    let key = Key::of(kernel, &header.kernel, &header.source);
                    self.page("cover", key).covers.push(Run { file, result: &kernel.result });
                }
                self.set(file, "cover", set);
                &set.header
            }
            AnyResult::Mutate(r) => {
                self.mutants(file, plain(&r.header.kernel, &r.header.source), r);
                &r.header
            }
            AnyResult::MutateSet(set) => {
                for kernel in &set.kernels {
                    let header = &kernel.result.header;
                    self.mutants(file, Key::of(kernel, &header.kernel, &header.source), &kernel.result);
                }
                self.set(file, "mutate", set);
                &set.header
            }
            AnyResult::Check(r) => {
                self.page("check", plain(&r.header.kernel, &r.header.source)).checks.push(Run { file, result: r });
                &r.header
            }
            AnyResult::CheckSet(set) => {
                for kernel in &set.kernels {
                    let header = &kernel.result.header;
                    let key = Key::of(kernel, &header.kernel, &header.source);
                    self.page("check", key).checks.push(Run { file, result: &kernel.result });
                }
                self.set(file, "check", set);
                &set.header
            }
            AnyResult::Schedule(r) => {
                let page = self.page("schedule", plain(&r.header.kernel, &r.header.source));
                page.schedules.push(Run { file, result: r });
                &r.header
            }
            AnyResult::Generate(r) => {
                let page = self.page("generate", plain(&r.header.kernel, &r.header.source));
                page.generates.push(Run { file, result: r });
                &r.header
            }
            AnyResult::RunSet(set) => {
                for kernel in &set.kernels {
                    let header = &kernel.result.header;
                    let key = Key::of(kernel, &header.kernel, &header.source);
                    self.page("run", key).runs.push(Run { file, result: &kernel.result });
                }
                self.set(file, "run", set);
                &set.header
            }
            AnyResult::ScheduleSet(set) => {
                for kernel in &set.kernels {
                    let header = &kernel.result.header;
                    let key = Key::of(kernel, &header.kernel, &header.source);
                    self.page("schedule", key).schedules.push(Run { file, result: &kernel.result });
                }
                self.set(file, "schedule", set);
                &set.header
            }
            AnyResult::GenerateSet(set) => {
                for kernel in &set.kernels {
                    let header = &kernel.result.header;
                    let key = Key::of(kernel, &header.kernel, &header.source);
                    self.page("generate", key).generates.push(Run { file, result: &kernel.result });
                }
                self.set(file, "generate", set);
                &set.header
            }
            // `report::load` takes it apart.
            AnyResult::Ci(r) => &r.header,
            AnyResult::Compare(r) => {
                for kernel in &r.kernels {
                    self.page("compare", plain(&kernel.kernel, &kernel.source)).compared.push(kernel);
                }
                self.comparisons.push(Run { file, result: r });
                &r.header
            }
            AnyResult::Capture(r) => {
                self.captures.push(Run { file, result: r });
                &r.header
            }
        };
        if self.version.is_empty() {
            self.version = &header.version;
        }
        Ok(())
    }

    fn mutants(&mut self, file: &'a Path, key: Key<'a>, result: &'a MutateResult) {
        let level = result.options.level.as_str();
        let levels = &mut self.page("mutate", key).mutates;
        match levels.iter_mut().find(|(known, _)| *known == level) {
            Some((_, runs)) => runs.push(Run { file, result }),
            None => levels.push((level, vec![Run { file, result }])),
        }
    }

    fn set<R, T>(&mut self, file: &'a Path, command: &'static str, set: &'a SetResult<R, T>) {
        self.sets.push(SetPage {
            file,
            command,
            program: set.program.as_ref(),
            kernels: set.kernels.len(),
            failed: &set.failed,
            left_out: &set.left_out,
            notes: &set.notes,
        });
    }

    /// Returns the page of a kernel to which the file at hand has given nothing of `command` yet, or makes it.
    fn page(&mut self, command: &'static str, key: Key<'a>) -> &mut KernelPage<'a> {
        let used = &self.used;
        let found = self.kernels.iter().position(|page| {
            page.name == key.name
                && page.source == key.source
                && page.program == key.program
                && !used.contains(&(page.number, command))
        });
        let number = found.unwrap_or_else(|| {
            let number = self.kernels.len();
            let Key { name, source, program, suite, launches } = key;
            self.kernels.push(KernelPage { number, name, source, program, suite, launches, ..KernelPage::default() });
            number
        });
        self.used.push((number, command));
        &mut self.kernels[number]
    }
}

fn plain<'a>(name: &'a str, source: &'a str) -> Key<'a> {
    Key { name, source, program: None, suite: None, launches: None }
}
