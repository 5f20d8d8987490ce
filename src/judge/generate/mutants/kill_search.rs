//! Searches for inputs on which mutants and original differ: reached first, then infected, then distinguished by
//! an output.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_results::result::generate::By;
use kassay_suite::launch::Launch;

use super::proposer::Proposer;
use crate::generate::decode::Decoder;
use crate::generate::fill::mix;
use crate::generate::fitting;
use crate::generate::genotype::Genotype;
use crate::generate::input_mutations::Mutator;
use crate::generate::instrumented::fuel_options;
use crate::generate::launch_builder::FittedPlan;
use crate::generate::launches::{self, Request};
use crate::generate::search::{Limits, Progress, SearchProblem, SearchStatistics, StopReason, TestInput};
use crate::generate::solving::MAX_FRUITLESS;
use crate::mutation::run::mutant_pool::{MutantObservation, MutantPool};
use crate::mutation::{ByMutant, MutantIndex};

/// Consecutive mutations of an input before another parent is taken.
const DEPTH: u32 = 4;

/// An input that kills mutants.
#[derive(Debug, Clone)]
pub struct KillingInput {
    pub name: &'static str,
    pub by: By,
    pub genotype: Option<Genotype>,
    pub launch: Launch,
    pub preconditions: Vec<String>,
    /// Indices of the mutants that no earlier input killed; after [`KillSearch::finish`], of all that it kills.
    pub kills: Vec<MutantIndex>,
}

impl KillingInput {
    /// As an input of the suite; what it covers is not known.
    pub fn as_test_input(&self, name: String) -> TestInput {
        TestInput {
            name,
            by: self.by,
            genotype: self.genotype.clone(),
            launch: self.launch.clone(),
            preconditions: self.preconditions.clone(),
            tally: Vec::new(),
            covers: Vec::new(),
            faulted: Vec::new(),
            reads_unwritten: false,
        }
    }

    /// Returns the base name of tests that were found by these means.
    pub fn name_of(by: By) -> &'static str {
        match by {
            By::Seed => "mutants",
            By::Fuzz => "mutants, fuzzed",
            By::Smt => "mutants, solved",
        }
    }
}

/// Result of the search.
#[derive(Debug, Clone)]
pub struct KillSearchResult {
    /// The fewest inputs that kill everything that is killed.
    pub killing_inputs: Vec<KillingInput>,
    /// By mutant: what the best input showed of it.
    pub seen: ByMutant<MutantObservation>,
    /// By mutant: when it was killed first, and by what means.
    pub killed: ByMutant<Option<(Instant, By)>>,
    pub statistics: SearchStatistics,
    pub ended: StopReason,
    /// Time taken by proposals, without their runs.
    pub solving: Duration,
}

/// An input that is mutated further.
struct Parent {
    genotype: Genotype,
    seen: ByMutant<MutantObservation>,
}

/// Called for every input that kills, as soon as it is found.
pub type Record<'a> = dyn FnMut(&KillingInput, &SearchStatistics) -> Result<()> + 'a;

/// State of the search.
pub struct KillSearch<'a, 'm> {
    pool: &'a mut MutantPool<'m>,
    problem: SearchProblem<'a>,
    limits: &'a Limits,
    decoder: Decoder<'a>,
    proposer: &'a mut dyn Proposer,
    progress: &'a mut Progress<'a>,
    record: &'a mut Record<'a>,
    open: BTreeSet<MutantIndex>,
    /// Number of mutants that are searched for.
    total: usize,
    parents: Vec<Parent>,
    kill_result: KillSearchResult,
}

impl<'a, 'm> KillSearch<'a, 'm> {
    /// Starts a search. `limits.max_execs`: inputs that may be tried.
    pub fn new(
        pool: &'a mut MutantPool<'m>,
        problem: SearchProblem<'a>,
        limits: &'a Limits,
        proposer: &'a mut dyn Proposer,
        progress: &'a mut Progress<'a>,
        record: &'a mut Record<'a>,
    ) -> KillSearch<'a, 'm> {
        let open: BTreeSet<MutantIndex> = pool.refused.positions().filter(|m| pool.refused[*m].is_none()).collect();
        let kill_result = KillSearchResult {
            killing_inputs: Vec::new(),
            seen: ByMutant::filled(MutantObservation::default(), pool.refused.len()),
            killed: ByMutant::filled(None, pool.refused.len()),
            statistics: SearchStatistics::default(),
            ended: StopReason::Covered,
            solving: Duration::ZERO,
        };
        let total = open.len();
        let decoder = Decoder::new(problem.launch_builder, problem.constraints, limits.end);
        KillSearch {
            pool,
            problem,
            limits,
            decoder,
            proposer,
            progress,
            record,
            open,
            total,
            parents: Vec::new(),
            kill_result,
        }
    }

    /// Searches until nothing is left, nothing more is gained, or a limit is reached. `known`: launches of the suite,
    /// none of which kills any of the mutants. `before`: what an interrupted search had found, with its statistics.
    ///
    /// # Errors
    /// As [`MutantPool::observe`] and the construction of the first launches; if an input cannot be recorded.
    pub fn search(
        &mut self,
        known: &[(Option<Genotype>, Launch)],
        before: Vec<(KillingInput, SearchStatistics)>,
        request: &Request,
    ) -> Result<()> {
        let earlier = before.last().map_or(0, |(_, statistics)| statistics.executions);
        for (killing, statistics) in before {
            self.attempt_launch(killing.genotype, killing.launch, killing.preconditions, killing.by)?;
            self.kill_result.statistics = statistics;
        }
        self.kill_result.ended = match self.try_first_launches(known, request)? {
            Some(ended) => ended,
            // A resumed search does not repeat the same mutations.
            None => self.rounds(mix(request.seed, 2 + earlier))?,
        };
        Ok(())
    }

    /// Tries the suite's launches, then those with which generation begins. Returns why the search is over, if it is.
    fn try_first_launches(
        &mut self,
        known: &[(Option<Genotype>, Launch)],
        request: &Request,
    ) -> Result<Option<StopReason>> {
        for (genotype, launch) in known {
            if let Some(ended) = self.stop_reason() {
                return Ok(Some(ended));
            }
            if let Some(seen) = self.observe(launch)? {
                self.gain(&seen);
                self.proposer.add_parent(launch);
                self.parents.extend(genotype.clone().map(|genotype| Parent { genotype, seen }));
            }
        }
        let end = self.limits.end;
        for (planned, fitted) in
            launches::planned_launches(self.problem.launch_builder, request, || Instant::now() >= end)?
        {
            if let Some(ended) = self.stop_reason() {
                return Ok(Some(ended));
            }
            if planned.geometry.range.items() > self.problem.constraints.usual_items && request.range.is_none() {
                continue;
            }
            let scalars = planned.scalars.clone();
            let genotype = Genotype::from_planned(planned, self.problem.launch_builder.model, self.problem.constraints);
            // The user may require other scalars.
            let fitted = (genotype.scalars == scalars).then_some(fitted);
            self.attempt(genotype, fitted, By::Seed)?;
        }
        Ok(None)
    }

    /// Alternates between fuzzing, until that is fruitless, and proposals.
    fn rounds(&mut self, seed: u64) -> Result<StopReason> {
        let fuzzes = self.limits.attempts > 0;
        let mut mutator = Mutator::new(self.problem.launch_builder, self.problem.constraints, seed);
        loop {
            let ended = match fuzzes && mutator.targets() > 0 {
                true => self.fuzz(&mut mutator)?,
                false if fuzzes => StopReason::NothingToChange,
                false => StopReason::Fruitless,
            };
            if !matches!(ended, StopReason::Fruitless | StopReason::NothingToChange) || !self.propose()? {
                return Ok(self.stop_reason().unwrap_or(ended));
            }
        }
    }

    /// Mutates inputs that come near an open mutant, each mutant in turn.
    fn fuzz(&mut self, mutator: &mut Mutator<'_>) -> Result<StopReason> {
        let (mut fruitless, mut turn) = (0, 0usize);
        // The input that is mutated next, and how many mutations it is away from a parent.
        let mut walk: Option<(Genotype, u32)> = None;
        while fruitless < self.limits.attempts {
            if let Some(ended) = self.stop_reason() {
                return Ok(ended);
            }
            turn += 1;
            let (parent, depth) = match walk.take() {
                Some(walked) => walked,
                None => match self.parent(turn) {
                    Some(parent) => (parent.genotype.clone(), 0),
                    None => return Ok(StopReason::NothingToChange),
                },
            };
            let Some(child) = mutator.child(&parent) else { return Ok(StopReason::NothingToChange) };
            fruitless += 1;
            match self.attempt(child.clone(), None, By::Fuzz)? {
                Some(true) => fruitless = 0,
                Some(false) if depth + 1 < DEPTH && turn.is_multiple_of(2) => walk = Some((child, depth + 1)),
                _ => {}
            }
        }
        Ok(StopReason::Fruitless)
    }

    /// Returns an input for the open mutant whose turn it is: one that infects it, else one that reaches it, else any.
    fn parent(&self, turn: usize) -> Option<&Parent> {
        let target = self.open.iter().nth(turn % self.open.len().max(1)).copied()?;
        let round = turn / self.open.len().max(1);
        let pick = |those: Vec<&'_ Parent>| -> Option<usize> {
            // Every other time the newest one.
            let last = those.len().checked_sub(1)?;
            Some(if round.is_multiple_of(2) { last } else { round / 2 % those.len() })
        };
        for wanted in
            [|s: &MutantObservation| s.infected, |s: &MutantObservation| s.reached, |_: &MutantObservation| true]
        {
            let those: Vec<&Parent> = self.parents.iter().filter(|p| wanted(&p.seen[target])).collect();
            if let Some(i) = pick(those.clone()) {
                return those.get(i).copied();
            }
        }
        None
    }

    /// Tries proposals until there are no more; returns whether one gains something.
    fn propose(&mut self) -> Result<bool> {
        let (mut gained, mut fruitless) = (false, 0);
        while self.stop_reason().is_none() && fruitless < MAX_FRUITLESS {
            // Mutants that are not infected yet come first; for the others, another input that infects them may
            // do more.
            let wanted = |infected: bool| -> BTreeSet<MutantIndex> {
                self.open.iter().copied().filter(|m| self.kill_result.seen[*m].infected == infected).collect()
            };
            let started = Instant::now();
            let mut proposed = None;
            for wanted in [wanted(false), wanted(true)] {
                if proposed.is_none() && !wanted.is_empty() {
                    proposed = self.proposer.next(&wanted, self.limits.end);
                }
            }
            self.kill_result.solving += started.elapsed();
            let Some(mut launch) = proposed else { break };
            let mut preconditions = self.problem.launch_builder.model.preconditions.clone();
            let mut useful = self.attempt_proposal(launch.clone(), preconditions.clone())?;
            if useful.is_none()
                && self.stop_reason().is_none()
                && let Some((resized, notes)) = self.proposer.resize(&launch, self.limits.end)
            {
                preconditions.extend(notes);
                launch = resized;
                useful = self.attempt_proposal(launch.clone(), preconditions)?;
            }
            let useful = useful == Some(true);
            self.proposer.report(&launch, useful);
            gained |= useful;
            fruitless = if useful { 0 } else { fruitless + 1 };
        }
        Ok(gained)
    }

    /// Returns why no more inputs may be tried, `None` while they may.
    fn stop_reason(&self) -> Option<StopReason> {
        if self.open.is_empty() {
            return Some(StopReason::Covered);
        }
        if self.limits.max_execs.is_some_and(|most| self.kill_result.statistics.executions >= most) {
            return Some(StopReason::OutOfExecutions);
        }
        (Instant::now() >= self.limits.end).then_some(StopReason::OutOfTime)
    }

    fn limit(&self) -> Duration {
        self.limits.launch.min(self.limits.end.saturating_duration_since(Instant::now()))
    }

    fn observe(&mut self, launch: &Launch) -> Result<Option<ByMutant<MutantObservation>>> {
        self.kill_result.statistics.executions += 1;
        let seen = self.pool.observe(launch, &fuel_options(&launch.range), self.limit())?;
        match &seen {
            Some(_) => {
                self.kill_result.statistics.largest = self.kill_result.statistics.largest.max(launch.range.items())
            }
            None => self.kill_result.statistics.faulted += 1,
        }
        Ok(seen)
    }

    /// Updates what is known of open mutants; returns whether one is newly reached or infected.
    fn gain(&mut self, seen: &ByMutant<MutantObservation>) -> bool {
        let mut gained = false;
        for m in &self.open {
            let (best, now) = (&mut self.kill_result.seen[*m], &seen[*m]);
            gained |= (now.reached && !best.reached) || (now.infected && !best.infected);
            best.reached |= now.reached;
            best.infected |= now.infected;
        }
        gained
    }

    fn attempt(&mut self, genotype: Genotype, fitted: Option<FittedPlan>, by: By) -> Result<Option<bool>> {
        let Some((launch, preconditions)) = self.decoder.decode(&genotype, fitted)? else { return Ok(None) };
        self.attempt_launch(Some(genotype), launch, preconditions, by)
    }

    /// Tries what the solver proposes, as far as it keeps to what the seeds have in common.
    fn attempt_proposal(&mut self, mut launch: Launch, preconditions: Vec<String>) -> Result<Option<bool>> {
        match fitting::fit(self.problem.constraints, self.problem.launch_builder.model, &mut launch) {
            true => self.attempt_launch(None, launch, preconditions, By::Smt),
            false => Ok(None),
        }
    }

    /// Tries an input. `None` if it is rejected; otherwise whether it comes nearer to a mutant or kills one.
    fn attempt_launch(
        &mut self,
        genotype: Option<Genotype>,
        launch: Launch,
        preconditions: Vec<String>,
        by: By,
    ) -> Result<Option<bool>> {
        let Some(seen) = self.observe(&launch)? else { return Ok(None) };
        let gained = self.gain(&seen);
        let infected: Vec<MutantIndex> = self.open.iter().copied().filter(|m| seen[*m].infected).collect();
        let limit = self.limit();
        let kills = self.pool.kills(&launch, &infected, limit)?;
        let at = Instant::now();
        for m in &kills {
            self.open.remove(m);
            self.kill_result.killed[*m] = Some((at, by));
        }
        let useful = gained || !kills.is_empty();
        if useful && let Some(genotype) = &genotype {
            self.parents.push(Parent { genotype: genotype.clone(), seen });
            self.proposer.add_parent(&launch);
        }
        if !kills.is_empty() {
            let name = KillingInput::name_of(by);
            let killing = KillingInput { name, by, genotype, launch, preconditions, kills };
            (self.record)(&killing, &self.kill_result.statistics)?;
            self.kill_result.killing_inputs.push(killing);
        }
        (self.progress)(self.kill_result.statistics.executions, self.total - self.open.len(), self.total);
        Ok(Some(useful))
    }

    /// Selects the fewest inputs that kill everything that is killed.
    ///
    /// # Errors
    /// As [`MutantPool::kills`].
    pub fn finish(mut self) -> Result<KillSearchResult> {
        let killed = &self.kill_result.killed;
        let all: Vec<MutantIndex> = killed.positions().filter(|m| killed[*m].is_some()).collect();
        let mut found = std::mem::take(&mut self.kill_result.killing_inputs);
        for killing in &mut found {
            if Instant::now() >= self.limits.end {
                break;
            }
            let rest: Vec<MutantIndex> = all.iter().copied().filter(|m| !killing.kills.contains(m)).collect();
            let limit = self.limit();
            killing.kills.extend(self.pool.kills(&killing.launch, &rest, limit)?);
        }
        self.kill_result.killing_inputs = minimal_cover(found, &all);
        Ok(self.kill_result)
    }
}

/// Selects inputs by greedy set cover: the one that kills most of the rest comes first. Then drops those that the
/// others make redundant.
fn minimal_cover(mut found: Vec<KillingInput>, all: &[MutantIndex]) -> Vec<KillingInput> {
    let mut left: BTreeSet<MutantIndex> = all.iter().copied().collect();
    let mut kept: Vec<KillingInput> = Vec::new();
    while !left.is_empty() {
        let gain = |c: &KillingInput| c.kills.iter().filter(|m| left.contains(m)).count();
        // The first of equals.
        let Some(best) = (0..found.len()).rev().max_by_key(|i| gain(&found[*i])).filter(|i| gain(&found[*i]) > 0)
        else {
            break;
        };
        let best = found.remove(best);
        best.kills.iter().for_each(|m| {
            left.remove(m);
        });
        kept.push(best);
    }
    let mut i = kept.len();
    while i > 0 {
        i -= 1;
        let others = |m: &MutantIndex| kept.iter().enumerate().any(|(k, other)| k != i && other.kills.contains(m));
        if kept[i].kills.iter().all(others) {
            kept.remove(i);
        }
    }
    kept
}
