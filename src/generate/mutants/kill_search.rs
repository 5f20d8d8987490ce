//! The search for inputs on which mutants and original differ: reached, then infected, then told apart by an output.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::mutant_pool::MutantPool;
use super::proposer::Proposer;
use crate::error::Result;
use crate::generate::decode::Decoder;
use crate::generate::fill::mix;
use crate::generate::genotype::Genotype;
use crate::generate::input_mutations::Mutator;
use crate::generate::launch_builder::Outcome;
use crate::generate::launches::{self, Request};
use crate::generate::search::{Ended, Kept, Limits, Progress, Subject, Tried};
use crate::generate::solving::FRUITLESS;
use crate::instrument::mutants::infection::MutantObservation;
use crate::mutation::{ByMutant, MutantIndex};
use crate::result::generate::By;
use crate::suite::launch::Launch;

/// So many changes on end are made of an input before another is taken.
const DEPTH: u32 = 4;

/// An input that kills.
#[derive(Debug, Clone)]
pub struct KillingInput {
    pub name: &'static str,
    pub by: By,
    pub genotype: Option<Genotype>,
    pub launch: Launch,
    pub preconditions: Vec<String>,
    /// Positions of the mutants that no input before it killed; once [`KillSearch::finish`] is done, of all that it kills.
    pub kills: Vec<MutantIndex>,
}

impl KillingInput {
    /// As a test; what it covers is not known.
    pub fn as_kept(&self, name: String) -> Kept {
        Kept {
            name,
            by: self.by,
            genotype: self.genotype.clone(),
            launch: self.launch.clone(),
            preconditions: self.preconditions.clone(),
            tally: Vec::new(),
            covers: Vec::new(),
            faulted: Vec::new(),
        }
    }

    /// What tests are called that were found so.
    pub fn name_of(by: By) -> &'static str {
        match by {
            By::Seed => "mutants",
            By::Fuzz => "mutants, fuzzed",
            By::Smt => "mutants, solved",
        }
    }
}

/// What became of the search.
#[derive(Debug, Clone)]
pub struct KillSearchResult {
    /// As few as kill everything that is killed.
    pub caught: Vec<KillingInput>,
    /// By mutant: what the best input shows of it.
    pub seen: ByMutant<MutantObservation>,
    /// By mutant: when it was killed first, and by what.
    pub killed: ByMutant<Option<(Instant, By)>>,
    pub tried: Tried,
    pub ended: Ended,
    /// Seconds that proposals took, their runs left out.
    pub solving: Duration,
}

/// An input that is changed again.
struct Parent {
    genotype: Genotype,
    seen: ByMutant<MutantObservation>,
}

/// Called for every input that kills, as soon as it is found.
pub type Record<'a> = dyn FnMut(&KillingInput, &Tried) -> Result<()> + 'a;

pub struct KillSearch<'a, 'm> {
    pool: &'a mut MutantPool<'m>,
    subject: Subject<'a>,
    limits: &'a Limits,
    decoder: Decoder<'a>,
    proposer: &'a mut dyn Proposer,
    progress: &'a mut Progress<'a>,
    record: &'a mut Record<'a>,
    open: BTreeSet<MutantIndex>,
    /// All that are searched for.
    total: usize,
    parents: Vec<Parent>,
    hunted: KillSearchResult,
}

impl<'a, 'm> KillSearch<'a, 'm> {
    /// `limits.max_execs`: inputs that may be tried.
    pub fn new(
        pool: &'a mut MutantPool<'m>,
        subject: Subject<'a>,
        limits: &'a Limits,
        proposer: &'a mut dyn Proposer,
        progress: &'a mut Progress<'a>,
        record: &'a mut Record<'a>,
    ) -> KillSearch<'a, 'm> {
        let open: BTreeSet<MutantIndex> = pool.refused.positions().filter(|m| pool.refused[*m].is_none()).collect();
        let hunted = KillSearchResult {
            caught: Vec::new(),
            seen: ByMutant::filled(MutantObservation::default(), pool.refused.len()),
            killed: ByMutant::filled(None, pool.refused.len()),
            tried: Tried::default(),
            ended: Ended::Covered,
            solving: Duration::ZERO,
        };
        let total = open.len();
        let decoder = Decoder::new(subject.launch_builder, subject.wishes, limits.end);
        KillSearch {
            pool,
            subject,
            limits,
            decoder,
            proposer,
            progress,
            record,
            open,
            total,
            parents: Vec::new(),
            hunted,
        }
    }

    /// Searches until nothing is left, nothing is gained any more, or a limit is met. `known`: launches of the suite, none of which
    /// kills any of the mutants. `before`: what a search that was ended had caught, and how far it was.
    ///
    /// # Errors
    /// As of [`MutantPool::observe`] and of the first launches; if what is caught cannot be recorded.
    pub fn search(
        &mut self,
        known: &[(Option<Genotype>, Launch)],
        before: Vec<(KillingInput, Tried)>,
        request: &Request,
    ) -> Result<()> {
        let earlier = before.last().map_or(0, |(_, tried)| tried.executions);
        for (caught, tried) in before {
            self.attempt_launch(caught.genotype, caught.launch, caught.preconditions, caught.by)?;
            self.hunted.tried = tried;
        }
        self.hunted.ended = match self.first(known, request)? {
            Some(ended) => ended,
            // A search that goes on does not make the same changes again.
            None => self.rounds(mix(request.seed, 2 + earlier))?,
        };
        Ok(())
    }

    /// The suite's launches and those that generation begins with. Why the search is over, if it is.
    fn first(&mut self, known: &[(Option<Genotype>, Launch)], request: &Request) -> Result<Option<Ended>> {
        for (genotype, launch) in known {
            if let Some(ended) = self.over() {
                return Ok(Some(ended));
            }
            if let Some(seen) = self.observe(launch)? {
                self.gain(&seen);
                self.proposer.parent(launch);
                self.parents.extend(genotype.clone().map(|genotype| Parent { genotype, seen }));
            }
        }
        let end = self.limits.end;
        for (planned, outcome) in launches::planned(self.subject.launch_builder, request, || Instant::now() >= end)? {
            if let Some(ended) = self.over() {
                return Ok(Some(ended));
            }
            if planned.geometry.range.items() > self.subject.wishes.usual_items && request.range.is_none() {
                continue;
            }
            let scalars = planned.scalars.clone();
            let genotype = Genotype::of(planned, self.subject.launch_builder.model, self.subject.wishes);
            // The user may want others.
            let tried = (genotype.scalars == scalars).then_some(outcome);
            self.attempt(genotype, tried, By::Seed)?;
        }
        Ok(None)
    }

    /// Fuzzing, and proposals whenever that is fruitless.
    fn rounds(&mut self, seed: u64) -> Result<Ended> {
        let fuzzes = self.limits.attempts > 0;
        let mut mutator = Mutator::new(self.subject.launch_builder, self.subject.wishes, seed);
        loop {
            let ended = match fuzzes && mutator.targets() > 0 {
                true => self.fuzz(&mut mutator)?,
                false if fuzzes => Ended::Nothing,
                false => Ended::Fruitless,
            };
            if !matches!(ended, Ended::Fruitless | Ended::Nothing) || !self.propose()? {
                return Ok(self.over().unwrap_or(ended));
            }
        }
    }

    /// Changes inputs that come near an open mutant, each mutant in turn.
    fn fuzz(&mut self, mutator: &mut Mutator<'_>) -> Result<Ended> {
        let (mut fruitless, mut turn) = (0, 0usize);
        // The input that the next change starts from, and how many changes on from a parent it is.
        let mut walk: Option<(Genotype, u32)> = None;
        while fruitless < self.limits.attempts {
            if let Some(ended) = self.over() {
                return Ok(ended);
            }
            turn += 1;
            let (parent, depth) = match walk.take() {
                Some(walked) => walked,
                None => match self.parent(turn) {
                    Some(parent) => (parent.genotype.clone(), 0),
                    None => return Ok(Ended::Nothing),
                },
            };
            let Some(child) = mutator.child(&parent) else { return Ok(Ended::Nothing) };
            fruitless += 1;
            match self.attempt(child.clone(), None, By::Fuzz)? {
                Some(true) => fruitless = 0,
                Some(false) if depth + 1 < DEPTH && turn.is_multiple_of(2) => walk = Some((child, depth + 1)),
                _ => {}
            }
        }
        Ok(Ended::Fruitless)
    }

    /// An input for the open mutant whose turn it is: one that infects it, else one that reaches it, else any.
    fn parent(&self, turn: usize) -> Option<&Parent> {
        let target = self.open.iter().nth(turn % self.open.len().max(1)).copied()?;
        let round = turn / self.open.len().max(1);
        let pick = |those: Vec<&'_ Parent>| -> Option<usize> {
            // Every other time the newest.
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

    /// Tries proposals until there are no more; whether one gains something.
    fn propose(&mut self) -> Result<bool> {
        let (mut gained, mut fruitless) = (false, 0);
        while self.over().is_none() && fruitless < FRUITLESS {
            // First what is not infected yet; of what is, other inputs that infect it may do more.
            let wanted = |infected: bool| -> BTreeSet<MutantIndex> {
                self.open.iter().copied().filter(|m| self.hunted.seen[*m].infected == infected).collect()
            };
            let begun = Instant::now();
            let mut proposed = None;
            for wanted in [wanted(false), wanted(true)] {
                if proposed.is_none() && !wanted.is_empty() {
                    proposed = self.proposer.next(&wanted, self.limits.end);
                }
            }
            self.hunted.solving += begun.elapsed();
            let Some(mut launch) = proposed else { break };
            let mut preconditions = self.subject.launch_builder.model.preconditions.clone();
            let mut useful = self.attempt_launch(None, launch.clone(), preconditions.clone(), By::Smt)?;
            if useful.is_none()
                && self.over().is_none()
                && let Some((repaired, notes)) = self.proposer.avoid_fault(&launch, self.limits.end)
            {
                preconditions.extend(notes);
                launch = repaired;
                useful = self.attempt_launch(None, launch.clone(), preconditions, By::Smt)?;
            }
            let useful = useful == Some(true);
            self.proposer.ran(&launch, useful);
            gained |= useful;
            fruitless = if useful { 0 } else { fruitless + 1 };
        }
        Ok(gained)
    }

    /// Why no more inputs may be tried.
    fn over(&self) -> Option<Ended> {
        if self.open.is_empty() {
            return Some(Ended::Covered);
        }
        if self.limits.max_execs.is_some_and(|most| self.hunted.tried.executions >= most) {
            return Some(Ended::OutOfExecutions);
        }
        (Instant::now() >= self.limits.end).then_some(Ended::OutOfTime)
    }

    fn limit(&self) -> Duration {
        self.limits.launch.min(self.limits.end.saturating_duration_since(Instant::now()))
    }

    fn observe(&mut self, launch: &Launch) -> Result<Option<ByMutant<MutantObservation>>> {
        self.hunted.tried.executions += 1;
        let seen = self.pool.observe(launch, self.limit())?;
        match &seen {
            Some(_) => self.hunted.tried.largest = self.hunted.tried.largest.max(launch.range.items()),
            None => self.hunted.tried.faulted += 1,
        }
        Ok(seen)
    }

    /// Whether an open mutant is reached or infected that was not before.
    fn gain(&mut self, seen: &ByMutant<MutantObservation>) -> bool {
        let mut gained = false;
        for m in &self.open {
            let (best, now) = (&mut self.hunted.seen[*m], &seen[*m]);
            gained |= (now.reached && !best.reached) || (now.infected && !best.infected);
            best.reached |= now.reached;
            best.infected |= now.infected;
        }
        gained
    }

    fn attempt(&mut self, genotype: Genotype, tried: Option<Outcome>, by: By) -> Result<Option<bool>> {
        let Some((launch, preconditions)) = self.decoder.express(&genotype, tried)? else { return Ok(None) };
        self.attempt_launch(Some(genotype), launch, preconditions, by)
    }

    /// Tries an input: `None` if it is of no use, else whether it comes nearer to a mutant or kills one.
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
            self.hunted.killed[*m] = Some((at, by));
        }
        let useful = gained || !kills.is_empty();
        if useful && let Some(genotype) = &genotype {
            self.parents.push(Parent { genotype: genotype.clone(), seen });
            self.proposer.parent(&launch);
        }
        if !kills.is_empty() {
            let name = KillingInput::name_of(by);
            let caught = KillingInput { name, by, genotype, launch, preconditions, kills };
            (self.record)(&caught, &self.hunted.tried)?;
            self.hunted.caught.push(caught);
        }
        (self.progress)(self.hunted.tried.executions, self.total - self.open.len(), self.total);
        Ok(Some(useful))
    }

    /// Picks the fewest inputs that kill all that is killed.
    ///
    /// # Errors
    /// As of [`MutantPool::kills`].
    pub fn finish(mut self) -> Result<KillSearchResult> {
        let killed = &self.hunted.killed;
        let all: Vec<MutantIndex> = killed.positions().filter(|m| killed[*m].is_some()).collect();
        let mut found = std::mem::take(&mut self.hunted.caught);
        for caught in &mut found {
            if Instant::now() >= self.limits.end {
                break;
            }
            let rest: Vec<MutantIndex> = all.iter().copied().filter(|m| !caught.kills.contains(m)).collect();
            let limit = self.limit();
            caught.kills.extend(self.pool.kills(&caught.launch, &rest, limit)?);
        }
        self.hunted.caught = fewest(found, &all);
        Ok(self.hunted)
    }
}

/// Greedily, the one that kills most of what is left first; then without those that the others make needless.
fn fewest(mut found: Vec<KillingInput>, all: &[MutantIndex]) -> Vec<KillingInput> {
    let mut left: BTreeSet<MutantIndex> = all.iter().copied().collect();
    let mut kept: Vec<KillingInput> = Vec::new();
    while !left.is_empty() {
        let gain = |c: &KillingInput| c.kills.iter().filter(|m| left.contains(m)).count();
        // Of equals the first.
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
