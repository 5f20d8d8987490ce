//! The search for inputs on which mutants and original differ: reached, then infected, then told apart by an output.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::mutant_pool::Arena;
use super::proposer::Proposer;
use crate::error::Result;
use crate::generate::fill::mix;
use crate::generate::launch_builder::Outcome;
use crate::generate::genotype::Genes;
use crate::generate::launches::{self, Request};
use crate::generate::input_mutations::Mutator;
use crate::generate::decode::Press;
use crate::generate::search::{Ended, Kept, Limits, Progress, Subject, Tried};
use crate::generate::solving::FRUITLESS;
use crate::instrument::mutants::infection::Seen;
use crate::result::generate::By;
use crate::suite::launch::Launch;

/// So many changes on end are made of an input before another is taken.
const DEPTH: u32 = 4;

/// An input that kills.
#[derive(Debug, Clone)]
pub struct Caught {
    pub name: &'static str,
    pub by: By,
    pub genes: Option<Genes>,
    pub launch: Launch,
    pub preconditions: Vec<String>,
    /// Positions of the mutants that no input before it killed; once [`Hunt::finish`] is done, of all that it kills.
    pub kills: Vec<usize>,
}

impl Caught {
    /// As a test; what it covers is not known.
    pub fn as_kept(&self, name: String) -> Kept {
        Kept {
            name,
            by: self.by,
            genes: self.genes.clone(),
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
pub struct Hunted {
    /// As few as kill everything that is killed.
    pub caught: Vec<Caught>,
    /// By mutant: what the best input shows of it.
    pub seen: Vec<Seen>,
    /// By mutant: when it was killed first, and by what.
    pub killed: Vec<Option<(Instant, By)>>,
    pub tried: Tried,
    pub ended: Ended,
    /// Seconds that proposals took, their runs left out.
    pub solving: Duration,
}

/// An input that is changed again.
struct Parent {
    genes: Genes,
    seen: Vec<Seen>,
}

/// Called for every input that kills, as soon as it is found.
pub type Record<'a> = dyn FnMut(&Caught, &Tried) -> Result<()> + 'a;

pub struct Hunt<'a, 'm> {
    arena: &'a mut Arena<'m>,
    subject: Subject<'a>,
    limits: &'a Limits,
    press: Press<'a>,
    proposer: &'a mut dyn Proposer,
    progress: &'a mut Progress<'a>,
    record: &'a mut Record<'a>,
    open: BTreeSet<usize>,
    /// All that are searched for.
    total: usize,
    parents: Vec<Parent>,
    hunted: Hunted,
}

impl<'a, 'm> Hunt<'a, 'm> {
    /// `limits.max_execs`: inputs that may be tried.
    pub fn new(
        arena: &'a mut Arena<'m>,
        subject: Subject<'a>,
        limits: &'a Limits,
        proposer: &'a mut dyn Proposer,
        progress: &'a mut Progress<'a>,
        record: &'a mut Record<'a>,
    ) -> Hunt<'a, 'm> {
        let open: BTreeSet<usize> = (0..arena.len()).filter(|m| arena.refused[*m].is_none()).collect();
        let hunted = Hunted {
            caught: Vec::new(),
            seen: vec![Seen::default(); arena.len()],
            killed: vec![None; arena.len()],
            tried: Tried::default(),
            ended: Ended::Covered,
            solving: Duration::ZERO,
        };
        let total = open.len();
        let press = Press::new(subject.workshop, subject.wishes, limits.end);
        Hunt { arena, subject, limits, press, proposer, progress, record, open, total, parents: Vec::new(), hunted }
    }

    /// Searches until nothing is left, nothing is gained any more, or a limit is met. `known`: launches of the suite, none of which
    /// kills any of the mutants. `before`: what a search that was ended had caught, and how far it was.
    ///
    /// # Errors
    /// As of [`Arena::observe`] and of the first launches; if what is caught cannot be recorded.
    pub fn search(
        &mut self,
        known: &[(Option<Genes>, Launch)],
        before: Vec<(Caught, Tried)>,
        request: &Request,
    ) -> Result<()> {
        let earlier = before.last().map_or(0, |(_, tried)| tried.executions);
        for (caught, tried) in before {
            self.attempt_launch(caught.genes, caught.launch, caught.preconditions, caught.by)?;
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
    fn first(&mut self, known: &[(Option<Genes>, Launch)], request: &Request) -> Result<Option<Ended>> {
        for (genes, launch) in known {
            if let Some(ended) = self.over() {
                return Ok(Some(ended));
            }
            if let Some(seen) = self.observe(launch)? {
                self.gain(&seen);
                self.proposer.parent(launch);
                self.parents.extend(genes.clone().map(|genes| Parent { genes, seen }));
            }
        }
        let end = self.limits.end;
        for (planned, outcome) in launches::planned(self.subject.workshop, request, || Instant::now() >= end)? {
            if let Some(ended) = self.over() {
                return Ok(Some(ended));
            }
            if planned.geometry.range.items() > self.subject.wishes.usual_items && request.range.is_none() {
                continue;
            }
            let scalars = planned.scalars.clone();
            let genes = Genes::of(planned, self.subject.workshop.model, self.subject.wishes);
            // The user may want others.
            let tried = (genes.scalars == scalars).then_some(outcome);
            self.attempt(genes, tried, By::Seed)?;
        }
        Ok(None)
    }

    /// Fuzzing, and proposals whenever that is fruitless.
    fn rounds(&mut self, seed: u64) -> Result<Ended> {
        let fuzzes = self.limits.attempts > 0;
        let mut mutator = Mutator::new(self.subject.workshop, self.subject.wishes, seed);
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
        let mut walk: Option<(Genes, u32)> = None;
        while fruitless < self.limits.attempts {
            if let Some(ended) = self.over() {
                return Ok(ended);
            }
            turn += 1;
            let (parent, depth) = match walk.take() {
                Some(walked) => walked,
                None => match self.parent(turn) {
                    Some(parent) => (parent.genes.clone(), 0),
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
        for wanted in [|s: &Seen| s.infected, |s: &Seen| s.reached, |_: &Seen| true] {
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
            let wanted = |infected: bool| -> BTreeSet<usize> {
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
            let mut preconditions = self.subject.workshop.model.preconditions.clone();
            let mut useful = self.attempt_launch(None, launch.clone(), preconditions.clone(), By::Smt)?;
            if useful.is_none()
                && self.over().is_none()
                && let Some((mended, notes)) = self.proposer.mend(&launch, self.limits.end)
            {
                preconditions.extend(notes);
                launch = mended;
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

    fn observe(&mut self, launch: &Launch) -> Result<Option<Vec<Seen>>> {
        self.hunted.tried.executions += 1;
        let seen = self.arena.observe(launch, self.limit())?;
        match &seen {
            Some(_) => self.hunted.tried.largest = self.hunted.tried.largest.max(launch.range.items()),
            None => self.hunted.tried.faulted += 1,
        }
        Ok(seen)
    }

    /// Whether an open mutant is reached or infected that was not before.
    fn gain(&mut self, seen: &[Seen]) -> bool {
        let mut gained = false;
        for m in &self.open {
            let (best, now) = (&mut self.hunted.seen[*m], &seen[*m]);
            gained |= (now.reached && !best.reached) || (now.infected && !best.infected);
            best.reached |= now.reached;
            best.infected |= now.infected;
        }
        gained
    }

    fn attempt(&mut self, genes: Genes, tried: Option<Outcome>, by: By) -> Result<Option<bool>> {
        let Some((launch, preconditions)) = self.press.express(&genes, tried)? else { return Ok(None) };
        self.attempt_launch(Some(genes), launch, preconditions, by)
    }

    /// Tries an input: `None` if it is of no use, else whether it comes nearer to a mutant or kills one.
    fn attempt_launch(
        &mut self,
        genes: Option<Genes>,
        launch: Launch,
        preconditions: Vec<String>,
        by: By,
    ) -> Result<Option<bool>> {
        let Some(seen) = self.observe(&launch)? else { return Ok(None) };
        let gained = self.gain(&seen);
        let infected: Vec<usize> = self.open.iter().copied().filter(|m| seen[*m].infected).collect();
        let limit = self.limit();
        let kills = self.arena.kills(&launch, &infected, limit)?;
        let at = Instant::now();
        for m in &kills {
            self.open.remove(m);
            self.hunted.killed[*m] = Some((at, by));
        }
        let useful = gained || !kills.is_empty();
        if useful && let Some(genes) = &genes {
            self.parents.push(Parent { genes: genes.clone(), seen });
            self.proposer.parent(&launch);
        }
        if !kills.is_empty() {
            let name = Caught::name_of(by);
            let caught = Caught { name, by, genes, launch, preconditions, kills };
            (self.record)(&caught, &self.hunted.tried)?;
            self.hunted.caught.push(caught);
        }
        (self.progress)(self.hunted.tried.executions, self.total - self.open.len(), self.total);
        Ok(Some(useful))
    }

    /// Picks the fewest inputs that kill all that is killed.
    ///
    /// # Errors
    /// As of [`Arena::kills`].
    pub fn finish(mut self) -> Result<Hunted> {
        let all: Vec<usize> = (0..self.arena.len()).filter(|m| self.hunted.killed[*m].is_some()).collect();
        let mut found = std::mem::take(&mut self.hunted.caught);
        for caught in &mut found {
            if Instant::now() >= self.limits.end {
                break;
            }
            let rest: Vec<usize> = all.iter().copied().filter(|m| !caught.kills.contains(m)).collect();
            let limit = self.limit();
            caught.kills.extend(self.arena.kills(&caught.launch, &rest, limit)?);
        }
        self.hunted.caught = fewest(found, &all);
        Ok(self.hunted)
    }
}

/// Greedily, the one that kills most of what is left first; then without those that the others make needless.
fn fewest(mut found: Vec<Caught>, all: &[usize]) -> Vec<Caught> {
    let mut left: BTreeSet<usize> = all.iter().copied().collect();
    let mut kept: Vec<Caught> = Vec::new();
    while !left.is_empty() {
        let gain = |c: &Caught| c.kills.iter().filter(|m| left.contains(m)).count();
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
        let others = |m: &usize| kept.iter().enumerate().any(|(k, other)| k != i && other.kills.contains(m));
        if kept[i].kills.iter().all(others) {
            kept.remove(i);
        }
    }
    kept
}
