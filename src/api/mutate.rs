//! Measures how well a suite detects faults.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::build::Level;
use kassay_judge::mutation::campaign::configuration::configuration;
use kassay_judge::mutation::campaign::content_hashes::ContentHashes;
use kassay_judge::mutation::campaign::{self, CampaignContext, EarlySearch, Entry, Request};
use kassay_judge::mutation::catalogue::changed_lines::ChangedLines;
use kassay_judge::mutation::catalogue::level::{MutationLevel, OperatorLevel};
use kassay_judge::mutation::catalogue::selection::Selection;
use kassay_judge::mutation::catalogue::source_level;
pub use kassay_judge::mutation::run::engine::{Batching, Strategy};
use kassay_results::result::any::AnyResult;
use kassay_results::result::join;
use kassay_results::result::journal::{self, Header, Journal};
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::shard::Shard;
use kassay_results::result::store;
use kassay_run::exec::Executor;
use serde::{Deserialize, Serialize};

use super::baseline::{self, Baseline};
use super::executors::{self, Runnable};
use super::input::SyntaxTree;
use super::opened::Opened;
use super::options::{check_range, options};

options! {
    /// Options of [`mutate`]. The level of mutants is an option of opening
    /// ([`OpenOptions::level`](super::OpenOptions::level)).
    #[derive(Serialize, Deserialize)]
    pub struct MutateOptions {
        /// Operators: `all`, `peng`, `liu`, `mutgpu`, or ids such as `ROR,SYR`.
        operators: String = "all".to_owned(),
        /// The order of mutants; 2 adds pairs of mutants.
        order: u32 = 1,
        /// How many mutants (pairs with order 2) are drawn; `None`: all.
        sample: Option<u64> = None,
        /// The lines whose mutants are made ([`ChangedLines::of_diff`], [`changes_since`](crate::changes_since));
        /// `None`: all.
        changes: Option<ChangedLines> = None,
        /// Runs of a mutant per test; `None`: 1, or 3 for kernels with atomics, barriers or local memory.
        repeats: Option<u32> = None,
        /// Whether every mutant runs on every test that reaches it, even after another test has killed it.
        full_matrix: bool = false,
        /// The limit on a mutant's loop iterations and time, as a multiple of the original's.
        timeout_factor: f64 = 10.0,
        /// The result of an earlier run, from which fates are taken over and with which survivors are compared.
        baseline: Option<Baseline> = None,
        /// The least score; a lower one is a complaint of the result. That of several suites is about all together.
        fail_under: Option<f64> = None,
        /// Whether survivors that the baseline does not have, or has as detected, are a complaint of the result.
        fail_on_new_survivors: bool = false,
        /// The part of the mutants to run; [`merge`](super::merge) combines the parts.
        shard: Option<Shard> = None,
        /// How mutants are built.
        strategy: Strategy = Strategy::Schemata,
        /// Whether mutants whose value never differs from the original's in a test are left out of it.
        prune: bool = true,
        /// Whether survivors that no data could kill in launches of the tests' sizes are distinguished
        /// ([`Status::EquivalentForLaunches`](kassay_results::result::mutate::Status::EquivalentForLaunches)).
        launch_facts: bool = true,
        /// Whether a launch may combine runs of several mutants.
        batching: Batching = Batching::Auto,
        /// The file for the result. While mutants run, a journal lies beside it.
        #[serde(with = "kassay_base::files::paths")]
        output: Option<PathBuf> = None,
        /// Whether to resume an interrupted run from the journal of `output`.
        resume: bool = false,
    }
}

/// Environment variable that makes the solver examine killed mutants too, as a check of its proofs.
const DOUBT_VARIABLE: &str = "KASSAY_DOUBT_PROOFS";

/// Environment variable for the number of instructions that may be normalised before mutants run, instead
/// of [`campaign::MOST_BEFORE`].
const MOST_BEFORE_VARIABLE: &str = "KASSAY_MOST_BEFORE";

/// Time limit for a run of the original.
const ORIGINAL_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes mutants of the kernel and runs the tests on them.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{MutateOptions, OpenOptions, mutate};
///
/// let opened = OpenOptions::new().device("sim".into()).open("testdata/vector_add/suite.toml")?;
/// let result = mutate(&opened, &MutateOptions::new().operators("AOR".to_owned()))?;
/// assert!(result.summary.killed > 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if an option is wrong, a kernel without a suite was opened, or the device does not support a test;
/// `Environment` if there is no device or it fails, or the result cannot be written.
pub fn mutate(opened: &Opened, options: &MutateOptions) -> Result<MutateResult> {
    mutate_then(opened, options, &|_, _| Ok(()))
}

/// What is done with the mutants of a specialisation once they have run.
pub(super) type Then<'t> = &'t dyn Fn(&CampaignContext<'_, '_>, &MutateResult) -> Result<()>;

/// Like [`mutate`], and calls `then` for each specialisation while its mutants are still at hand.
///
/// # Errors
/// As for [`mutate`], and those of `then`.
pub(super) fn mutate_then(opened: &Opened, options: &MutateOptions, then: Then<'_>) -> Result<MutateResult> {
    let selection = options.check(opened.level())?;
    let most_before = match std::env::var(MOST_BEFORE_VARIABLE) {
        Ok(text) => text.parse().map_err(|_| {
            Error::caller(format!("`{text}` in the variable {MOST_BEFORE_VARIABLE} is no number of instructions"))
                .help(format!("give it a whole number, such as {}, or unset it", campaign::MOST_BEFORE))
        })?,
        Err(_) => campaign::MOST_BEFORE,
    };
    opened.check_suite()?;
    opened.begin();
    let specialisations = opened.specialisations();
    if specialisations.len() > 1 {
        options.check_for_specialisations()?;
    }
    let dimensions = campaign::dimensions(opened.tests());
    let baseline = match &options.baseline {
        Some(baseline) => baseline.of(opened)?,
        None => None,
    };
    // What several parts decided together tells nothing of one.
    let taken = baseline.clone().filter(|_| specialisations.len() == 1);
    let making = Making { options, selection, most_before, dimensions, baseline: taken, then };
    if let Some(mut result) = making.completed(&specialisations)? {
        result.complaints = options.complaints(&result);
        return Ok(result);
    }
    // A run that begins anew leaves nothing of an earlier one that could be resumed.
    if let (Some(output), false) = (&options.output, options.resume) {
        (1..specialisations.len()).try_for_each(|part| journal::discard(&journal::path_for_part(output, part)))?;
    }
    let (mut parts, mut journals): (Vec<MutateResult>, Vec<Journal>) = Default::default();
    for (part, specialisation) in specialisations.iter().enumerate() {
        let (result, journal) = making.run(specialisation, part)?;
        if let Some(first) = parts.first() {
            specialisation.check_same("mutants", join::same_mutants(first, &result))?;
        }
        parts.push(result);
        journals.extend(journal);
    }
    let mut result = match <[MutateResult; 1]>::try_from(parts) {
        Ok([only]) => only,
        Err(parts) => {
            let tests: Vec<&str> = opened.tests().iter().map(|test| test.name.as_str()).collect();
            join::join(parts, &tests, &campaign::class_of)?
        }
    };
    if let Some(file) = &options.baseline {
        file.compare(baseline.as_deref(), &mut result);
    }
    result.complaints = options.complaints(&result);
    if let Some(output) = &options.output {
        // A whole matrix may take hundreds of megabytes.
        store::write_in_pieces(&result, output)?;
    }
    for journal in journals {
        // The result is complete: a journal that stays must not cost it.
        if let Err(e) = journal.remove() {
            opened.observer().note(&e.to_string());
        }
    }
    Ok(result)
}

/// Executors that are ready, what was found out meanwhile, and which tests are left out.
type Ready = (Vec<Box<dyn Executor>>, Option<EarlySearch>, Option<String>);

/// What the campaigns of all specialisations have in common.
struct Making<'a> {
    options: &'a MutateOptions,
    selection: Selection,
    most_before: u64,
    /// The most dimensions of a test of any specialisation.
    dimensions: u32,
    /// The result of this kernel and suite in the baseline.
    baseline: Option<Arc<MutateResult>>,
    then: Then<'a>,
}

impl Making<'_> {
    /// Runs the mutants of a specialisation, which has this number. Returns the journal, too, if the result has a file.
    fn run(&self, opened: &Opened, part: usize) -> Result<(MutateResult, Option<Journal>)> {
        self.prepare(opened, |campaign, request, (mut executors, early, note)| {
            if let Some(first) = executors.first_mut() {
                executors::note_sub_groups_of(opened, campaign.under_test, campaign.tests, first.as_mut())?;
            }
            let executors = (executors, early);
            let Some(output) = &self.options.output else {
                let mut result = campaign::run(campaign, request, executors, None, Vec::new())?;
                result.notes.extend(note);
                (self.then)(campaign, &result)?;
                return Ok((result, None));
            };
            let shard = self.options.shard.map_or_else(String::new, |s| format!(" shard {s}"));
            let hash = configuration(campaign, request);
            let header = Header::new("mutate", &campaign.under_test.entry, &(hash + &shard));
            let path = journal::path_for_part(output, part);
            let (journal, known) = match self.options.resume {
                true => Journal::resume::<Entry>(&path, &header)?,
                false => (Journal::create(&path, &header)?, Vec::new()),
            };
            let mut result = campaign::run(campaign, request, executors, Some(&journal), known)?;
            result.notes.extend(note);
            (self.then)(campaign, &result)?;
            Ok((result, Some(journal)))
        })
    }

    /// Returns the complete result of an earlier run with the same configuration, with which nothing is left to resume.
    fn completed(&self, specialisations: &[&Opened]) -> Result<Option<MutateResult>> {
        let Some(output) = self.options.output.as_deref().filter(|_| self.options.resume) else { return Ok(None) };
        if journal::path_for(output).exists() {
            return Ok(None);
        }
        // Any other file is replaced, as without --resume.
        let Ok(Ok(result)) = store::read(output).map(AnyResult::one::<MutateResult>) else { return Ok(None) };
        let hash = |opened: &&Opened| self.prepare(opened, |campaign, request, _| Ok(configuration(campaign, request)));
        let hashes = specialisations.iter().map(hash).collect::<Result<Vec<String>>>()?;
        let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
        check_same_run(output, &result, &join::configuration(&hashes), self.options.shard)?;
        Ok(Some(result))
    }

    /// Starts executors and calls `work` with the campaign of a specialisation.
    fn prepare<R>(
        &self,
        opened: &Opened,
        work: impl FnOnce(&CampaignContext<'_, '_>, &Request, Ready) -> Result<R>,
    ) -> Result<R> {
        let (options, level) = (self.options, opened.level());
        let is_of_source = level.operators() == OperatorLevel::Source;
        let tree = if is_of_source { SyntaxTree::Needed } else { SyntaxTree::NotNeeded };
        opened.with_any_level(tree, |parsed| {
            let under_test = &parsed.under_test;
            let starting = opened.start(opened.options().jobs as usize)?;
            let sources = opened.sources();
            let source_mutants = match level {
                MutationLevel::Canonical(_) | MutationLevel::Ir(_) => None,
                MutationLevel::Source => {
                    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
                    let (loaded, kernel_options) = (&parsed.loaded, opened.kernel_options());
                    Some(source_level::find(under_test, loaded, &sources, kernel_options, &self.selection, jobs)?)
                }
            };
            let request = Request {
                selection: self.selection.clone(),
                order: options.order,
                sample: options.sample,
                changes: options.changes.clone(),
                repeats: options.repeats,
                full_matrix: options.full_matrix,
                factor: options.timeout_factor,
                strategy: options.strategy,
                level,
                shard: options.shard,
                seed: opened.seed(),
                jobs: opened.options().jobs,
                timeout: ORIGINAL_TIMEOUT,
                prune: options.prune,
                batching: options.batching,
                launch_facts: options.launch_facts,
                end: None,
                doubt: std::env::var_os(DOUBT_VARIABLE).is_some(),
                most_before: self.most_before,
                baseline: self.baseline.clone(),
            };
            let context = |tests| CampaignContext {
                under_test,
                ast: parsed.loaded.ast.as_ref().filter(|_| is_of_source && level.optimisation() == Level::Raw),
                sources: &sources,
                tests,
                dimensions: self.dimensions,
                source: opened.source(),
                source_mutants: source_mutants.as_ref(),
                contents: ContentHashes::default(),
            };
            let (tests, interface) = (&parsed.tests, &under_test.interface);
            // Which tests there will be is known before the device is if it can run all of them.
            let is_known = tests.iter().all(|test| !test.launch.allows_faults)
                && !under_test.may_go_without()
                && under_test.grid_barrier().is_none()
                && !under_test.takes_lanes();
            let search = || match options.resume || !is_known {
                // The journal may know.
                true => Ok(None),
                false => EarlySearch::new(&context(tests), &request),
            };
            let mut ready = executors::start_executors_during(opened, starting, tests, search)?;
            let unfit = executors::unfit_for_mutants(under_test, ready.0[0].as_ref());
            if let Some(why) = &unfit {
                opened.observer().note(&format!("mutants are judged on the simulator: {why}"));
            }
            ready.0 = executors::or_simulators(ready.0, unfit.as_deref())?;
            let first = ready.0[0].as_ref();
            let Runnable { tests, note, trapping: _ } =
                executors::runnable(tests, under_test, first.device(), first.capabilities())?.without_trapping()?;
            let tests = executors::with_local_sizes(&tests, interface, first.device());
            work(&context(&tests), &request, (ready.0, ready.1, note))
        })
    }
}

impl MutateOptions {
    /// Checks the options for mutants of a level, as far as this can be done without a kernel. Returns the selected
    /// operators.
    ///
    /// # Errors
    /// `Caller` if an option is wrong.
    pub(crate) fn check(&self, level: MutationLevel) -> Result<Selection> {
        let selection = Selection::parse_at(&self.operators, level.operators())?;
        check_range("order", self.order, 1..=2)?;
        check_range("timeout_factor", self.timeout_factor, 1.0..=1e6)?;
        if level == MutationLevel::Source && self.order > 1 {
            return Err(Error::caller("pairs are not made of mutants of the source's text")
                .help("leave out --order 2, or give --level canonical"));
        }
        if self.fail_on_new_survivors && self.baseline.is_none() {
            return Err(Error::caller("which survivors are new is known with a baseline only")
                .help("name the result of an earlier run: --baseline RESULT"));
        }
        if self.baseline.is_some() && self.order > 1 {
            return Err(
                Error::caller("pairs are not compared with a baseline").help("leave out --order 2, or the baseline")
            );
        }
        self.repeats.map_or(Ok(()), |repeats| check_range("repeats", repeats, 1..=1000))?;
        self.output.as_deref().map_or(Ok(()), store::check_writable)?;
        if self.resume && self.output.is_none() {
            return Err(Error::caller("--resume needs the result file whose journal it goes on with")
                .help("name it with -o, as in the run that was ended"));
        }
        Ok(selection)
    }

    /// Returns what of a result is not as it was asked for.
    fn complaints(&self, result: &MutateResult) -> Vec<String> {
        let new = baseline::of_new_survivors(result).filter(|_| self.fail_on_new_survivors);
        too_low(self.fail_under, result.summary.score).into_iter().chain(new).collect()
    }

    /// Checks that the options fit tests with different values of specialisation constants.
    ///
    /// # Errors
    /// `Caller` if they do not.
    fn check_for_specialisations(&self) -> Result<()> {
        let what = match (self.shard, self.order) {
            // A duplicate is in the shard of the mutant that it equals, and which one that is may depend on the values.
            (Some(_), _) => "--shard",
            (None, 2..) => "--order 2",
            (None, _) => return Ok(()),
        };
        Err(Error::caller(format!("{what} needs tests that all have the same values of specialisation constants"))
            .help("write a suite for each set of values, or leave it out"))
    }
}

/// Says what the score is if it is below `least`.
pub(crate) fn too_low(least: Option<f64>, score: Option<f64>) -> Option<String> {
    let (least, score) = (least?, score?);
    (score < least).then(|| format!("the mutation score is {score:.1} %, below {least} %"))
}

/// Checks that the complete result in `output` is of this run, because `--resume` must not replace that of another.
///
/// # Errors
/// `Caller` if it is not.
fn check_same_run(output: &Path, result: &MutateResult, configuration: &str, shard: Option<Shard>) -> Result<()> {
    let help = "resume with the kernel, suite and options that it was begun with, or leave out --resume to begin anew";
    let shown = |shard: Option<&str>| shard.map_or_else(|| "all mutants".to_owned(), |s| format!("shard {s}"));
    let expected = shard.map(|s| s.to_string());
    let differing = [
        ("configuration", result.configuration.clone(), configuration.to_owned()),
        ("part", shown(result.shard.as_deref()), shown(expected.as_deref())),
    ];
    match differing.into_iter().find(|(_, found, expected)| found != expected) {
        Some((what, found, expected)) => Err(Error::caller(format!(
            "{} is the result of another run: its {what} is `{found}`, this run's is `{expected}`",
            output.display()
        ))
        .help(help)),
        None => Ok(()),
    }
}
