//! The phases of a campaign, in their order: each is a value that only the one before makes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_ir::kernel::source::Sources;
use kassay_model::words::Words;
use kassay_prove::solve;
use kassay_results::result::journal::Journal;
use kassay_results::result::mutate::{self as result, Comparison, MutateResult, TestStatus};
use kassay_results::result::{Device, Header, mutate_summary};
use kassay_run::exec::Executor;
use kassay_suite::resolve::Test;

use super::configuration::{configuration, options_of};
use super::context::{CampaignContext, Request};
use super::early_search::{EarlySearch, instructions_to_normalise, search};
use super::mutant_set::MutantSet;
use super::outcomes::{first_order, judge_on_simulator, second_order};
use super::proving::Equality;
use super::records::{Entry, Records};
use super::reuse::{self, Reuse};
use super::rows::{self, MutantPair, Rows};
use crate::mutation::build::module_builder::ModuleBuilder;
use crate::mutation::catalogue::changed_lines::ChangedLines;
use crate::mutation::catalogue::indices::{ByMutant, MutantIndex};
use crate::mutation::catalogue::mutant::Excluded;
use crate::mutation::catalogue::operators::OPERATORS;
use crate::mutation::catalogue::source_level::SourceMutants;
use crate::mutation::catalogue::{item_interaction, prunable};
use crate::mutation::run::baseline::{DropReason, TestBaseline};
use crate::mutation::run::engine::{Engine, EngineCost, Options, Reach};
use crate::mutation::run::test_lists::TestLists;

/// Default repeats of a kernel whose work-items interact, and of any other (`--repeats` in docs/mutate.md).
const REPEATS: (u32, u32) = (3, 1);

/// What all phases have.
struct Common<'a, 'c> {
    campaign: &'a CampaignContext<'a, 'c>,
    request: &'a Request,
    set: &'a MutantSet,
    items_interact: bool,
    reuse: Reuse,
    rows: Rows<'a>,
    records: Records<'a>,
    equality: Equality<'a, 'c>,
    device: Option<Device>,
    started: Instant,
    /// How long equivalents were sought while nothing else was done.
    equivalence: Duration,
}

/// The mutants are chosen, and what is known of them is in their rows.
pub struct Planned<'a, 'c> {
    common: Common<'a, 'c>,
    executors: Vec<Box<dyn Executor>>,
    early: Option<EarlySearch>,
}

/// Equal mutants are found, but for what behaviour will tell apart.
pub struct Classified<'a, 'c> {
    common: Common<'a, 'c>,
    executors: Vec<Box<dyn Executor>>,
    /// Whether mutants run before normal forms tell which are equal.
    runs_first: bool,
}

/// The original has run on all tests.
pub struct Ready<'a, 'c> {
    common: Common<'a, 'c>,
    engine: Engine<'a, 'c>,
    runs_first: bool,
    /// The mutants that are asked for, alone or in a pair.
    wanted: Vec<MutantIndex>,
    pairs: Vec<MutantPair>,
}

/// The mutants have run.
pub struct Ran<'a, 'c> {
    common: Common<'a, 'c>,
    engine: Engine<'a, 'c>,
    pairs: Vec<MutantPair>,
    reach: HashMap<MutantIndex, Reach>,
    /// Those that ran and are distinct.
    open: Vec<MutantIndex>,
}

/// Each mutant has its verdict, proofs apart.
pub struct Judged<'a, 'c> {
    common: Common<'a, 'c>,
    engine: Engine<'a, 'c>,
    pairs: Vec<MutantPair>,
    reach: HashMap<MutantIndex, Reach>,
    not_simulated: Vec<result::NotSimulated>,
    /// How long the simulator judged.
    simulator: Duration,
}

/// All is decided.
pub struct Decided<'a, 'c> {
    common: Common<'a, 'c>,
    engine: Engine<'a, 'c>,
    not_simulated: Vec<result::NotSimulated>,
    simulator: Duration,
}

impl<'a, 'c> Planned<'a, 'c> {
    /// Enters what is known. `known`: entries of an earlier journal.
    pub fn new(
        (campaign, request): (&'a CampaignContext<'a, 'c>, &'a Request),
        (set, lists): (&'a MutantSet, &'a TestLists),
        (executors, early): (Vec<Box<dyn Executor>>, Option<EarlySearch>),
        journal: Option<&'a Journal>,
        known: Vec<Entry>,
        started: Instant,
    ) -> Planned<'a, 'c> {
        let items_interact = item_interaction::work_items_interact(campaign.under_test);
        let info = executors.first().map(|executor| executor.device());
        let mut reuse = match &request.baseline {
            Some(before) => Reuse::of(before, campaign, request, &set.mutants, info, items_interact),
            None => Reuse::default(),
        };
        // What the journal knows comes first: this run found it.
        let known = known.into_iter().chain(std::mem::take(&mut reuse.entries)).collect();
        let mut rows = Rows::new(&set.mutants, lists, request.shard);
        let records = Records::new(journal, rows.enter(known));
        let equality = Equality::new(campaign, request, &set.mutants);
        let device = executors.first().map(|executor| device(executor.as_ref()));
        let equivalence = early.as_ref().map_or(Duration::ZERO, EarlySearch::taken);
        let common = Common {
            campaign,
            request,
            set,
            items_interact,
            reuse,
            rows,
            records,
            equality,
            device,
            started,
            equivalence,
        };
        Planned { common, executors, early }
    }

    /// Searches for equal mutants.
    ///
    /// # Errors
    /// As [`Equality::classify`].
    pub fn classify(self) -> Result<Classified<'a, 'c>> {
        let Planned { mut common, executors, early } = self;
        let Common { campaign, request, set, rows, records, equality, .. } = &mut common;
        let searched = Instant::now();
        // If normal forms take long, mutants run first where that is possible: their behaviour tells most of them
        // apart. It is not possible with pairs, which are formed from distinct mutants, nor with shards, which must
        // agree on the classes before they divide the mutants.
        let is_long = || early.is_none() && instructions_to_normalise(campaign, &set.mutants) > request.most_before;
        let runs_first = request.order == 1 && request.shard.is_none() && records.classes().is_none() && is_long();
        if runs_first {
            equality.classify_edits(rows);
        } else {
            let search = search(request, set.drawn.is_some());
            equality.classify(rows, records, search, early.map(EarlySearch::classes))?;
        }
        common.equivalence += searched.elapsed();
        Ok(Classified { common, executors, runs_first })
    }
}

impl<'a, 'c> Classified<'a, 'c> {
    /// Builds and loads the mutants that are to run, and runs the original.
    ///
    /// # Errors
    /// As [`Engine::establish_baselines`].
    pub fn baseline(self) -> Result<Ready<'a, 'c>> {
        let Classified { common, executors, runs_first } = self;
        let Common { campaign, request, set, ref reuse, ref rows, .. } = common;
        let repeats = request.repeats.unwrap_or(if common.items_interact { REPEATS.0 } else { REPEATS.1 });
        let options = Options {
            strategy: request.strategy,
            repeats,
            full_matrix: request.full_matrix,
            factor: request.factor,
            timeout: request.timeout,
            prune: request.prune && !request.full_matrix,
            batching: request.batching,
            end: request.end,
        };
        let capabilities = executors.first().map(|executor| executor.capabilities()).unwrap_or_default();
        let builder = ModuleBuilder::new(campaign.under_test, capabilities.target);
        let builder = builder.for_tests(capabilities, campaign.tests)?;
        let mut engine = Engine::new(builder, executors, campaign.tests, &set.mutants, options);
        engine.prunable = prunable::prunable(campaign.under_test, &set.mutants);
        let pairs = match request.order {
            2 => rows.pairs(set.drawn.as_deref(), request.seed),
            _ => Vec::new(),
        };
        // Woven are the mutants to be run, alone or in a pair. For pairs that conflict, the tests that reach them are
        // still reported.
        let mut wanted: Vec<MutantIndex> = rows.open().collect();
        wanted.extend(pairs.iter().filter(|p| p.in_shard).flat_map(|p| [p.first, p.second]));
        wanted.sort_unstable();
        wanted.dedup();
        let may_run = |m: &MutantIndex| reuse.may_run(*m, campaign.tests.len());
        let woven: Vec<MutantIndex> = wanted.iter().copied().filter(may_run).collect();
        engine.establish_baselines(&woven, request.order == 2, &wanted)?;
        Ok(Ready { common, engine, runs_first, wanted, pairs })
    }
}

impl<'a, 'c> Ready<'a, 'c> {
    /// Runs the mutants. Proofs that decide about one mutant alone are sought while the device is at work.
    ///
    /// # Errors
    /// As [`Engine::run`], and errors of the search.
    pub fn run(self) -> Result<Ran<'a, 'c>> {
        let Ready { mut common, mut engine, runs_first, wanted, pairs } = self;
        let Common { items_interact, reuse, rows, records, equality, equivalence, .. } = &mut common;
        let left_out = equality.left_out();
        let (reach, mut open, proofs) = std::thread::scope(|scope| -> Result<_> {
            let seeking = left_out.as_ref().map(|proofs| scope.spawn(|| proofs.seek()));
            let reach: HashMap<MutantIndex, Reach> = wanted.iter().copied().zip(engine.reach(&wanted)?).collect();
            let open = first_order(&mut engine, (rows, records), &wanted, &reach, *items_interact, reuse)?;
            let waiting = Instant::now();
            let lost = || Err(Error::internal("the thread that sought proofs ended early"));
            let proofs = seeking.map(|seeking| seeking.join().unwrap_or_else(|_| lost())).transpose()?;
            *equivalence += waiting.elapsed();
            Ok((reach, open, proofs))
        })?;
        if let Some(proofs) = proofs {
            equality.complete(rows, records, proofs)?;
        }
        if runs_first {
            let searched = Instant::now();
            equality.classify_outcomes(rows, records, *items_interact)?;
            *equivalence += searched.elapsed();
            open.retain(|m| rows.is_distinct(*m));
        }
        Ok(Ran { common, engine, pairs, reach, open })
    }
}

impl<'a, 'c> Ran<'a, 'c> {
    /// Has the simulator judge the mutants whose outcome on a device depends on chance.
    ///
    /// # Errors
    /// As [`judge_on_simulator`].
    pub fn judge(self) -> Result<Judged<'a, 'c>> {
        let Ran { mut common, engine, pairs, reach, open } = self;
        let Common { campaign, request, items_interact, reuse, rows, records, .. } = &mut common;
        let judged = Instant::now();
        let mut not_simulated = std::mem::take(&mut reuse.not_simulated);
        let now = judge_on_simulator(&engine, (rows, records), campaign, request, &open, &reach, *items_interact)?;
        not_simulated.extend(now.into_iter().filter(|one| !not_simulated.contains(one)).collect::<Vec<_>>());
        Ok(Judged { common, engine, pairs, reach, not_simulated, simulator: judged.elapsed() })
    }
}

impl<'a, 'c> Judged<'a, 'c> {
    /// Seeks proofs for mutants that no test has detected, and runs the pairs.
    ///
    /// # Errors
    /// As [`Equality::prove`] and [`Engine::run`].
    pub fn decide(self) -> Result<Decided<'a, 'c>> {
        let Judged { mut common, mut engine, pairs, reach, not_simulated, simulator } = self;
        let Common { rows, records, equality, equivalence, .. } = &mut common;
        let searched = Instant::now();
        let all_ran = !engine.is_out_of_time() && engine.dropped.values().all(Option::is_none);
        equality.prove(rows, records, all_ran)?;
        *equivalence += searched.elapsed();
        if !pairs.is_empty() {
            second_order(&mut engine, (rows, records), &pairs, &reach)?;
        }
        Ok(Decided { common, engine, not_simulated, simulator })
    }
}

impl Decided<'_, '_> {
    /// Puts the result together.
    pub fn result(self) -> MutateResult {
        let Decided { common, engine, not_simulated, simulator } = self;
        let Common { campaign, request, set, reuse, rows, device, started, equivalence, .. } = common;
        let tests = test_outcomes(&engine);
        let mut notes: Vec<String> =
            request.changes.iter().map(|changes| on_changed_lines(changes, set.elsewhere)).collect();
        notes.extend(set.notes.iter().cloned());
        if !engine.is_out_of_time() && tests.iter().all(|t| t.status != TestStatus::Used) {
            notes.push("no test says anything of mutants: the original fails them all, or is not stable".to_owned());
        }
        let entry = campaign.under_test.entry.clone();
        let mut done = MutateResult {
            header: Header::new(MutateResult::SCHEMA, entry, campaign.source.clone(), device, request.seed),
            elapsed_s: started.elapsed().as_secs_f64(),
            configuration: configuration(campaign, request),
            shard: request.shard.map(|s| s.to_string()),
            options: options_of(request),
            texts: texts(campaign, &rows.rows),
            summary: result::Summary::default(),
            operators: BTreeMap::new(),
            classes: BTreeMap::new(),
            lines: BTreeMap::new(),
            timing: timing(&engine.cost, equivalence, simulator, engine.baselines()),
            mutants: rows.into_rows(),
            tests,
            basis: Some(reuse::basis(campaign, request)),
            baseline: reuse.why_not.map(|why| Comparison { why_not: Some(why), ..Comparison::default() }),
            second_order: None,
            pairs: None,
            not_simulated,
            excluded: campaign.source_mutants.map(excluded).unwrap_or_default(),
            complaints: Vec::new(),
            solver: Some(solve::solver()),
            notes,
        };
        let words = Words::of(&done.header.source);
        done.mutants.iter_mut().flat_map(|row| &mut row.reason).for_each(|text| words.put(text));
        mutate_summary::finish(&mut done, &class_of);
        done
    }
}

/// Says how many mutants are not on the lines that are wanted.
fn on_changed_lines(changes: &ChangedLines, elsewhere: usize) -> String {
    let mutants = if elsewhere == 1 { "1 mutant is".to_owned() } else { format!("{elsewhere} mutants are") };
    format!("{mutants} left out: only lines that {} changed are mutated", changes.origin)
}

fn excluded(of_source: &SourceMutants) -> Vec<result::Excluded> {
    let row = |excluded: &Excluded| result::Excluded {
        operator: excluded.operator.to_owned(),
        function: excluded.function.clone(),
        location: excluded.range.as_ref().map(rows::location).unwrap_or_default(),
        reason: excluded.reason.clone(),
    };
    of_source.excluded.iter().map(row).collect()
}

/// Returns the hashes of the files that rows refer to, as far as they can be read.
fn texts(campaign: &CampaignContext<'_, '_>, rows: &ByMutant<result::Mutant>) -> BTreeMap<String, String> {
    let spellings = rows.values().filter_map(|r| r.spelling.as_ref());
    texts_of(rows.values().map(|r| &r.location).chain(spellings).map(|l| l.file.as_str()), campaign.sources)
}

fn test_outcomes(engine: &Engine<'_, '_>) -> Vec<result::TestOutcome> {
    let outcome = |(test, dropped): (&Test, &Option<DropReason>)| result::TestOutcome {
        name: test.name.clone(),
        status: if dropped.is_some() { TestStatus::Dropped } else { TestStatus::Used },
        reason: dropped.as_ref().map(DropReason::to_string),
        kills: 0,
        reaches: 0,
    };
    engine.tests.iter().zip(engine.dropped.values()).map(outcome).collect()
}

fn timing(
    cost: &EngineCost,
    equivalence: Duration,
    simulator: Duration,
    baselines: &[TestBaseline<'_>],
) -> result::Timing {
    result::Timing {
        build_s: cost.build.as_secs_f64(),
        run_s: cost.run.as_secs_f64(),
        equivalence_s: equivalence.as_secs_f64(),
        simulator_s: simulator.as_secs_f64(),
        builds: cost.builds,
        executions: cost.executions,
        pruned_pairs: cost.pruned_pairs,
        pairs: cost.pairs,
        by_launches: 0,
        module_sizes: cost.module_sizes.clone(),
        batched_pairs: cost.batched_pairs,
        distrusted_modules: cost.distrusted,
        originals_s: baselines
            .iter()
            .filter(|t| !t.kernel_time.is_zero())
            .map(|t| (t.test.name.clone(), t.kernel_time.as_secs_f64()))
            .collect(),
    }
}

fn device(executor: &dyn Executor) -> Device {
    let info = executor.device();
    Device {
        name: info.name.clone(),
        driver: info.driver.clone(),
        kind: info.kind.clone(),
        il_versions: info.languages(),
    }
}

/// Returns the class of an operator of [`OPERATORS`], for scores; empty for an unknown id.
pub fn class_of(operator: &str) -> String {
    OPERATORS.iter().find(|o| o.id == operator).map_or_else(String::new, |o| o.class.to_owned())
}

/// Returns the hashes of the files with these names, as far as they can be read.
pub fn texts_of<'f>(files: impl Iterator<Item = &'f str>, sources: &Sources) -> BTreeMap<String, String> {
    let files: BTreeSet<&str> = files.filter(|f| !f.is_empty()).collect();
    let hash = |file: &str| sources.text(file).map(|text| (file.to_owned(), hash::hex_digest(text.as_bytes())));
    files.into_iter().filter_map(hash).collect()
}
