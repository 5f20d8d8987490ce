//! Sorts loaded results by kernel: all that is known of a kernel is on one page of the report.

use std::path::Path;

use kassay_base::error::{Error, Result};

use crate::result::Header;
use crate::result::any::{AnyResult, Kernel, Part};
use crate::result::capture::CaptureResult;
use crate::result::check::CheckResult;
use crate::result::compare::{CompareResult, KernelComparison};
use crate::result::cover::CoverResult;
use crate::result::generate::GenerateResult;
use crate::result::inspect;
use crate::result::mutate::MutateResult;
use crate::result::run::RunResult;
use crate::result::schedule::ScheduleResult;
use crate::result::set::AnySet;
use crate::result::store::ResultFile;

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
    /// For a host program's kernel: the id of the program object.
    pub(super) program: Option<&'a str>,
    /// For a result for several suites: the suite.
    pub(super) suite: Option<&'a str>,
    /// For a host program's kernel: its launches.
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
    pub(super) set: &'a dyn AnySet,
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
                Some(&r.header)
            }
            AnyResult::Compare(r) => {
                for kernel in &r.kernels {
                    self.page("compare", plain(&kernel.kernel, &kernel.source)).compared.push(kernel);
                }
                self.comparisons.push(Run { file, result: r });
                Some(&r.header)
            }
            AnyResult::Capture(r) => {
                self.captures.push(Run { file, result: r });
                Some(&r.header)
            }
            of_kernels => {
                of_kernels.kernels().iter().for_each(|kernel| self.kernel(file, kernel));
                let set = of_kernels.set();
                self.sets.extend(set.filter(|set| set.is_set()).map(|set| SetPage { file, set }));
                set.map(AnySet::header)
            }
        };
        if let (Some(header), true) = (header, self.version.is_empty()) {
            self.version = &header.version;
        }
        Ok(())
    }

    /// Adds the result of a kernel.
    fn kernel(&mut self, file: &'a Path, kernel: &Kernel<'a>) {
        let key = |header: &'a Header| {
            let Kernel { suite, program, launches, .. } = *kernel;
            Key { name: &header.kernel, source: &header.source, program, suite, launches }
        };
        match kernel.part {
            Part::Run(result) => self.page("run", key(&result.header)).runs.push(Run { file, result }),
            Part::Cover(result) => self.page("cover", key(&result.header)).covers.push(Run { file, result }),
            Part::Mutate(result) => self.mutants(file, key(&result.header), result),
            Part::Check(result) => self.page("check", key(&result.header)).checks.push(Run { file, result }),
            Part::Schedule(result) => self.page("schedule", key(&result.header)).schedules.push(Run { file, result }),
            Part::Generate(result) => self.page("generate", key(&result.header)).generates.push(Run { file, result }),
            Part::Devices(_) | Part::Inspect(_) | Part::Compare(_) | Part::Capture(_) => {}
        }
    }

    fn mutants(&mut self, file: &'a Path, key: Key<'a>, result: &'a MutateResult) {
        let level = result.options.level.as_str();
        let levels = &mut self.page("mutate", key).mutates;
        match levels.iter_mut().find(|(known, _)| *known == level) {
            Some((_, runs)) => runs.push(Run { file, result }),
            None => levels.push((level, vec![Run { file, result }])),
        }
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
