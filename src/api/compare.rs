//! Compares mutants of different levels, judged by the same tests.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_base::hash;
use kassay_ir::cfg::sites::SiteKind;
use kassay_ir::llvm::{Function, View};
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::mutation::Selection;
use kassay_judge::mutation::campaign::CampaignContext;
use kassay_judge::mutation::campaign::equivalence_classes;
use kassay_judge::mutation::catalogue::level::MutationLevel;
use kassay_judge::mutation::catalogue::mutant::Mutant;
use kassay_judge::mutation::catalogue::operators::{OPERATORS, Subject};
use kassay_judge::mutation::catalogue::source_level;
use kassay_judge::mutation::enumerate;
use kassay_judge::mutation::equivalence::across_levels;
use kassay_results::result::Header;
use kassay_results::result::any::AnyResult;
use kassay_results::result::compare::{
    self as result, CodeSize, CompareResult, FailedSuite, KernelComparison, LeftOut,
};
use kassay_results::result::journal::{self, Journal};
use kassay_results::result::merge::join_devices;
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::shard::Shard;
use kassay_results::result::store;
use kassay_study::study::{self, LevelRun, Study};
use kassay_study::total::total;
use kassay_suite::resolve::{Suite, Test};
use serde::{Deserialize, Serialize};

use super::input::SyntaxTree;
use super::mutate::{MutateOptions, mutate_then};
use super::observer::{OfSpecialisations, Silent, Work, run_parallel};
use super::opened::Opened;
use super::options::{OpenOptions, check_range, options};
use super::{faults, metrics, pool};

options! {
    /// Options of [`compare`].
    pub struct CompareOptions {
        /// The levels to compare.
        levels: Vec<MutationLevel> = MutationLevel::COMPARED.to_vec(),
        /// How many tests are generated in addition to each suite's.
        tests: u64 = 0,
        /// How many random suites each estimate rests on.
        samples: u32 = 200,
        /// A folder with faulty variants of the kernel's file, to hold scores and coverage against finding them. For
        /// several suites it has folders with the names of the kernels' files, in which the variants are, or a folder
        /// `faults` with them.
        faults: Option<PathBuf> = None,
        /// Runs of a mutant per test; `None`: as for [`mutate`](super::mutate).
        repeats: Option<u32> = None,
        /// The part of the suites to compare; [`merge`](super::merge_comparisons) combines the parts.
        shard: Option<Shard> = None,
        /// The file for the result. Meanwhile, a journal lies beside it.
        output: Option<PathBuf> = None,
        /// Whether to resume an interrupted run from the journal of `output`.
        resume: bool = false,
    }
}

/// An entry of the journal: what was found for a suite.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    Compared(Box<KernelComparison>),
    Failed(FailedSuite),
}

impl Entry {
    fn suite(&self) -> &str {
        match self {
            Entry::Compared(kernel) => &kernel.suite,
            Entry::Failed(failed) => &failed.suite,
        }
    }
}

/// Makes the mutants of several levels of each suite's kernel, runs all of them on all tests, and compares the levels.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{CompareOptions, MutationLevel, OpenOptions, compare};
///
/// let open = OpenOptions::new().device("sim".into());
/// let levels = vec![MutationLevel::CANONICAL, MutationLevel::Ir(kassay::Level::O2)];
/// let options = CompareOptions::new().levels(levels).samples(20);
/// let result = compare(&["testdata/vector_add/suite.toml"], &open, &options)?;
/// let rows = result.kernels[0].levels.iter().filter(|row| row.concept == "all");
/// assert_eq!(rows.map(|row| row.level.as_str()).collect::<Vec<_>>(), ["canonical", "ir:O2"]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if an option is wrong or the only suite is; those of the device and of the journal. Of several suites,
/// those that fail are named in the result.
pub fn compare(suites: &[impl AsRef<Path>], open: &OpenOptions, options: &CompareOptions) -> Result<CompareResult> {
    let started = Instant::now();
    options.check(open)?;
    let suites: Vec<&Path> = suites.iter().map(AsRef::as_ref).collect();
    if suites.is_empty() {
        return Err(Error::caller("there is no suite to compare levels on").help("name one or more suites"));
    }
    let repeated = suites.iter().enumerate().find(|(at, suite)| suites[..*at].contains(suite));
    if let Some((_, suite)) = repeated {
        return Err(Error::caller(format!("{} is named twice", suite.display())).help("name each suite once"));
    }
    let configuration = configuration(&suites, open, options);
    let (journal, mut known) = match options.begin(&configuration)? {
        Beginning::Done(result) => return Ok(*result),
        Beginning::Journal(journal, known) => (journal, known),
    };
    let own: Vec<&Path> = suites
        .iter()
        .copied()
        .filter(|suite| options.shard.is_none_or(|shard| shard.owns(&shown(suite), None)))
        .collect();
    let (mut kernels, mut failed) = (Vec::new(), Vec::new());
    let work = Work::begin(&*open.observer, "suites", Some(own.len() as u64));
    for (done, suite) in own.iter().enumerate() {
        open.observer.progress(done as u64, &shown(suite));
        let entry = match known.remove(&shown(suite)) {
            Some(entry) => entry,
            None => {
                let entry = match (compare_suite(suite, open, options, suites.len() == 1), suites.len()) {
                    (Ok(kernel), _) => Entry::Compared(Box::new(kernel)),
                    (Err(error), 1) => return Err(error),
                    (Err(Error::Environment(report)), _) => return Err(Error::Environment(report)),
                    (Err(error), _) => Entry::Failed(FailedSuite { suite: shown(suite), error: error.to_string() }),
                };
                journal.as_ref().map_or(Ok(()), |journal| journal.append(&entry))?;
                entry
            }
        };
        match entry {
            Entry::Compared(kernel) => kernels.push(*kernel),
            Entry::Failed(suite) => failed.push(suite),
        }
    }
    drop(work);
    let seed = open.seed.unwrap_or(0);
    let names = |of: &dyn Fn(&KernelComparison) -> &str| kernels.iter().map(of).collect::<Vec<_>>().join(",");
    let result = CompareResult {
        header: Header::new(
            CompareResult::SCHEMA,
            names(&|kernel| &kernel.kernel),
            names(&|kernel| &kernel.source),
            join_devices(kernels.iter().filter_map(|kernel| kernel.device.as_ref())),
            seed,
        ),
        elapsed_s: started.elapsed().as_secs_f64(),
        configuration,
        shard: options.shard.map(|shard| shard.to_string()),
        options: options.of_result(),
        total: total(&kernels, seed),
        notes: notes(&kernels),
        kernels,
        failed,
    };
    if let Some(output) = &options.output {
        store::write(&result, output)?;
    }
    // The result is complete: a journal that stays must not cost it.
    if let Some(Err(e)) = journal.map(Journal::remove) {
        open.observer.note(&e.to_string());
    }
    Ok(result)
}

/// Combines the results of all shards of a [`compare`] run, in any order.
///
/// # Errors
/// `Caller` if they are not all shards of one run.
pub fn merge_comparisons(results: &[impl AsRef<Path>]) -> Result<CompareResult> {
    let help = "name the results of all shards of one run of `kassay compare`, each once";
    let mut parts: Vec<(Shard, CompareResult)> = Vec::new();
    for path in results.iter().map(AsRef::as_ref) {
        let wrong = |what: &str| Error::caller(format!("{} {what}", path.display())).help(help);
        let AnyResult::Compare(result) = store::read(path)? else {
            return Err(wrong("is no result of `kassay compare`"));
        };
        let shard = result.shard.as_deref().and_then(|shard| shard.parse().ok());
        let shard: Shard = shard.ok_or_else(|| wrong("is the result of a whole run, not of a shard"))?;
        if parts.iter().any(|(known, _)| *known == shard) {
            return Err(wrong(&format!("is another result of shard {shard}")));
        }
        let is_other = |(other, first): &(Shard, CompareResult)| {
            first.configuration != result.configuration || other.count() != shard.count()
        };
        if parts.first().is_some_and(is_other) {
            return Err(wrong("is the result of another run"));
        }
        parts.push((shard, *result));
    }
    parts.sort_by_key(|(shard, _)| *shard);
    let Some((shard, first)) = parts.first().cloned() else {
        return Err(Error::caller("there is no result to merge").help(help));
    };
    let there: BTreeSet<u32> = parts.iter().map(|(shard, _)| shard.number()).collect();
    if let Some(missing) = (1..=shard.count()).find(|number| !there.contains(number)) {
        return Err(Error::caller(format!("the result of shard {missing}/{} is missing", shard.count())).help(help));
    }
    let elapsed_s = parts.iter().map(|(_, part)| part.elapsed_s).sum();
    let mut kernels: Vec<KernelComparison> = parts.iter().flat_map(|(_, part)| part.kernels.clone()).collect();
    kernels.sort_by(|a, b| a.suite.cmp(&b.suite));
    let mut failed: Vec<FailedSuite> = parts.iter().flat_map(|(_, part)| part.failed.clone()).collect();
    failed.sort_by(|a, b| a.suite.cmp(&b.suite));
    let names = |of: &dyn Fn(&KernelComparison) -> &str| kernels.iter().map(of).collect::<Vec<_>>().join(",");
    Ok(CompareResult {
        header: Header {
            kernel: names(&|kernel| &kernel.kernel),
            source: names(&|kernel| &kernel.source),
            device: join_devices(kernels.iter().filter_map(|kernel| kernel.device.as_ref())),
            ..first.header.clone()
        },
        elapsed_s,
        shard: None,
        total: total(&kernels, first.header.seed),
        notes: notes(&kernels),
        kernels,
        failed,
        ..first
    })
}

/// How a run begins.
enum Beginning {
    /// There is nothing left to do.
    Done(Box<CompareResult>),
    /// With the entries of an earlier run, by suite.
    Journal(Option<Journal>, HashMap<String, Entry>),
}

impl CompareOptions {
    /// Checks the options, as far as this can be done without a kernel.
    ///
    /// # Errors
    /// `Caller` if an option is wrong.
    pub(crate) fn check(&self, open: &OpenOptions) -> Result<()> {
        check_range("samples", self.samples, 1..=100_000)?;
        check_range("tests", self.tests, 0..=10_000)?;
        self.repeats.map_or(Ok(()), |repeats| check_range("repeats", repeats, 1..=1000))?;
        self.output.as_deref().map_or(Ok(()), store::check_writable)?;
        open.check_raw()?;
        let repeated = self.levels.iter().enumerate().find(|(at, level)| self.levels[..*at].contains(level));
        match (self.levels.is_empty(), repeated) {
            (true, _) => Err(Error::caller("there is no level to compare").help("name one or more levels")),
            (_, Some((_, level))) => {
                Err(Error::caller(format!("the level {} is named twice", level.name())).help("name each level once"))
            }
            _ if self.resume && self.output.is_none() => {
                Err(Error::caller("--resume needs the result file whose journal it goes on with")
                    .help("name it with -o, as in the run that was ended"))
            }
            _ => Ok(()),
        }
    }

    fn of_result(&self) -> result::CompareOptions {
        result::CompareOptions {
            levels: self.levels.iter().map(|level| level.name().to_owned()).collect(),
            tests: self.tests,
            samples: self.samples,
        }
    }

    /// Opens the journal.
    fn begin(&self, configuration: &str) -> Result<Beginning> {
        let Some(output) = &self.output else { return Ok(Beginning::Journal(None, HashMap::new())) };
        let path = journal::path_for(output);
        let shard = self.shard.map(|shard| shard.to_string());
        if self.resume
            && !path.exists()
            && let Ok(AnyResult::Compare(done)) = store::read(output)
        {
            if done.configuration == configuration && done.shard == shard {
                return Ok(Beginning::Done(done));
            }
            return Err(Error::caller(format!("{} is the result of another run", output.display())).help(
                "resume with the suites and options that it was begun with, or leave out --resume to begin anew",
            ));
        }
        let part = shard.map_or_else(String::new, |shard| format!(" shard {shard}"));
        let header = journal::Header::new("compare", "", &(configuration.to_owned() + &part));
        let (journal, entries) = match self.resume {
            true => Journal::resume::<Entry>(&path, &header)?,
            false => (Journal::create(&path, &header)?, Vec::new()),
        };
        let known = entries.into_iter().map(|entry| (entry.suite().to_owned(), entry)).collect();
        Ok(Beginning::Journal(Some(journal), known))
    }
}

/// Compares the levels of one kernel.
fn compare_suite(
    suite: &Path,
    open: &OpenOptions,
    options: &CompareOptions,
    is_only: bool,
) -> Result<KernelComparison> {
    let first = open.clone().level(MutationLevel::CANONICAL).open(suite)?;
    if first.specialisations().len() > 1 {
        return Err(Error::caller(
            "levels are compared on one program, and the tests have different values of specialisation constants",
        )
        .help("write a suite for each set of values"));
    }
    let given_tests = first.tests().len();
    let more = match options.tests {
        0 => Vec::new(),
        wanted => distinct(pool::more_tests(&first, wanted)?, first.tests()),
    };
    let (seed, kernel) = (first.seed(), first.kernel_file().to_owned());
    let without_text = first
        .with(SyntaxTree::Needed, |parsed| Ok(source_level::without_text(&parsed.loaded, first.kernel_options())))?;
    if let (Some(why), [MutationLevel::Source]) = (&without_text, &options.levels[..]) {
        return Err(Error::caller(why.clone()).help("compare other levels, such as canonical and ir:raw"));
    }
    drop(first);
    let (mut faults, mut metrics, mut metrics_left_out) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(folder) = &options.faults {
        let files = faults::variants(folder, &kernel, is_only)?;
        if !files.is_empty() {
            faults = faults::find(suite, &files, &more, open)?;
            (metrics, metrics_left_out) = metrics::measure(&open.clone().open_with_more(suite, more.clone())?)?;
        }
    }
    let is_meant = |level: &&MutationLevel| **level != MutationLevel::Source || without_text.is_none();
    let levels: Vec<MutationLevel> = options.levels.iter().filter(is_meant).copied().collect();
    let runs = run_levels(suite, levels, &more, open, options)?;
    let concept_of = |operator: &str| {
        let known = OPERATORS.iter().find(|known| known.id == operator);
        known.map_or_else(String::new, |known| known.concept.name().to_owned())
    };
    let study = Study {
        suite: &shown(suite),
        given_tests,
        concept_of: &concept_of,
        samples: options.samples as usize,
        seed,
        faults: &faults,
        metrics: &metrics,
    };
    let is_wanted = options.levels.contains(&MutationLevel::Source);
    let left_out = without_text
        .filter(|_| is_wanted)
        .map(|reason| LeftOut { level: MutationLevel::Source.name().to_owned(), reason });
    Ok(KernelComparison { left_out: left_out.into_iter().collect(), metrics_left_out, ..study.compare(&runs) })
}

/// Gives tests names that differ from those of others.
fn distinct(mut tests: Vec<Test>, others: &[Test]) -> Vec<Test> {
    let taken: BTreeSet<&str> = others.iter().map(|test| test.name.as_str()).collect();
    for test in &mut tests {
        while taken.contains(test.name.as_str()) {
            test.name.push('\'');
        }
    }
    tests
}

/// Runs all mutants of each level on all tests, several levels at a time: much of a level's work has one thread.
fn run_levels(
    suite: &Path,
    levels: Vec<MutationLevel>,
    more: &[Test],
    open: &OpenOptions,
    options: &CompareOptions,
) -> Result<Vec<LevelRun>> {
    let threads = (open.jobs as usize).max(equivalence_classes::processors()).min(levels.len()).max(1);
    let open = open
        .clone()
        .jobs((open.jobs / threads as u32).max(1))
        .observer(Arc::new(OfSpecialisations::new(Arc::clone(&open.observer))));
    run_parallel(&mut vec![(); threads], &levels, "levels", &Silent, |(), level| {
        run_level(suite, *level, more, &open, options)
    })
}

/// Runs all mutants of a level on all tests.
fn run_level(
    suite: &Path,
    level: MutationLevel,
    more: &[Test],
    open: &OpenOptions,
    options: &CompareOptions,
) -> Result<LevelRun> {
    let started = Instant::now();
    let opened: Opened = open.clone().level(level).open_with_more(suite, more.to_vec())?;
    let mutate_options = MutateOptions::new().repeats(options.repeats).full_matrix(true);
    let found = RefCell::new((HashMap::new(), CodeSize::default()));
    let jobs = opened.options().jobs as usize;
    let result = mutate_then(&opened, &mutate_options, &|campaign, result| {
        *found.borrow_mut() = (forms_of(campaign, level, result, jobs)?, size_of(campaign.under_test));
        Ok(())
    })?;
    let (level, (forms, code)) = (level.name().to_owned(), found.into_inner());
    Ok(LevelRun { level, result, forms, code, elapsed_s: started.elapsed().as_secs_f64() })
}

/// Returns by id what the mutants that count become when they are optimised: a mutant that equals the original or
/// another one of its level has no twins of its own.
fn forms_of(
    campaign: &CampaignContext<'_, '_>,
    level: MutationLevel,
    result: &MutateResult,
    jobs: usize,
) -> Result<HashMap<String, String>> {
    let rows = result.mutants.iter().filter(|row| study::counts(row));
    let wanted: HashSet<&str> = rows.map(|row| row.id.as_str()).collect();
    let mutants: Vec<Mutant> = match campaign.source_mutants {
        Some(found) => found.mutants.clone(),
        None => {
            let subject = Subject::of(campaign.under_test, campaign.ast, campaign.sources);
            enumerate(&subject, &Selection::all(level.operators())).mutants
        }
    };
    let wanted: Vec<Mutant> = mutants.into_iter().filter(|mutant| wanted.contains(mutant.id.as_str())).collect();
    across_levels::forms(campaign.under_test, &wanted, jobs)
}

fn size_of(under_test: &KernelUnderTest<'_>) -> CodeSize {
    let blocks = |f: &Function<'_>| f.blocks().iter().map(|block| block.instructions().len() as u64).sum::<u64>();
    CodeSize {
        lines: under_test.sites.sites.iter().filter(|site| site.kind == SiteKind::Line).count() as u64,
        instructions: View::of(&under_test.module).functions().iter().map(blocks).sum(),
    }
}

/// Returns a hash of everything that determines the numbers, in hexadecimal: the suites and kernels as they are, and
/// the options.
fn configuration(suites: &[&Path], open: &OpenOptions, options: &CompareOptions) -> String {
    let mut text =
        format!("{} {:?} {:?} {:?}", env!("CARGO_PKG_VERSION"), options.of_result(), options.repeats, open.seed);
    let options_of_kernel = open.kernel_options(Vec::new()).as_arguments();
    let _ = write!(text, " {} {options_of_kernel:?} {:?} {:?}", open.device, open.spec, open.sub_group_size);
    for suite in suites {
        let read = |path: &Path| files::read(path, None).ok();
        let bytes = read(suite).unwrap_or_default();
        let kernel = Suite::load(suite).ok().and_then(|suite| read(&suite.kernel)).unwrap_or_default();
        let _ = write!(text, "\n{} {} {}", shown(suite), hash::hex_digest(&bytes), hash::hex_digest(&kernel));
    }
    if let Some(folder) = &options.faults {
        let _ = write!(text, "\nfaults {}", faults::digest(folder));
    }
    hash::hex_digest(text.as_bytes())
}

/// Says what readers of the numbers should know.
fn notes(kernels: &[KernelComparison]) -> Vec<String> {
    let mut notes = Vec::new();
    for kernel in kernels {
        for left_out in &kernel.left_out {
            notes.push(format!("{}: no mutants of level {}: {}", kernel.kernel, left_out.level, left_out.reason));
        }
        for left_out in &kernel.metrics_left_out {
            notes.push(format!("{}: {} is not measured: {}", kernel.kernel, left_out.metric, left_out.reason));
        }
        let reasons = kernel.tests.iter().filter_map(|test| Some((&test.name, test.reason.as_ref()?)));
        for (test, reason) in reasons.take(3) {
            notes.push(format!("{}: the test \"{test}\" was dropped at every level: {reason}", kernel.kernel));
        }
    }
    notes
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
