//! Mutation-based fuzzing (PENG algorithm 1): inputs are changed one argument at a time and kept when coverage grows.

use std::time::{Duration, Instant};

use super::fill::mix;
use super::fitting::Workshop;
use super::genes::{self, Genes};
use super::interface_file::Wishes;
use super::launches::{self, Request, unique};
use super::minimise;
use super::mutate::Mutator;
use crate::cfg::sites::{SiteKind, Sites};
use crate::coverage::tally::SiteTally;
use crate::error::Result;
use crate::result::generate::By;
use crate::suite::launch::Launch;

/// Kinds of sites whose outcomes make an input worth keeping: lines, statements and regions follow from them.
pub const WATCHED: [SiteKind; 4] = [SiteKind::Branch, SiteKind::Condition, SiteKind::Loop, SiteKind::Barrier];

/// Runs a launch with coverage probes.
pub trait Runs {
    /// What it showed, by site; `None` if it did what no kernel may, did not end in time or fuel, or cannot be launched.
    ///
    /// # Errors
    /// Of the environment, or of kassay.
    fn run(&mut self, launch: &Launch, limit: Duration) -> Result<Option<Vec<SiteTally>>>;
}

/// When to stop.
#[derive(Debug, Clone)]
pub struct Limits {
    /// When the time is up.
    pub end: Instant,
    pub max_execs: Option<u64>,
    /// Attempts without a gain, one after the other; 0: only the first launches.
    pub attempts: u64,
    /// Of one launch.
    pub launch: Duration,
}

/// An input that is kept.
#[derive(Debug, Clone)]
pub struct Kept {
    pub name: String,
    pub by: By,
    pub(super) genes: Genes,
    pub launch: Launch,
    pub preconditions: Vec<String>,
    pub tally: Vec<SiteTally>,
    /// By outcome, in the order of [`outcomes`].
    pub covers: Vec<bool>,
}

/// How an outcome was covered first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct First {
    pub by: By,
    /// Since the search began.
    pub after: Duration,
}

/// Why the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Covered,
    Fruitless,
    OutOfTime,
    OutOfExecutions,
    /// No argument may be changed.
    Nothing,
}

#[derive(Debug, Clone)]
pub struct Fuzzed {
    /// The smallest set that was found to cover all that is covered.
    pub tests: Vec<Kept>,
    /// By outcome.
    pub first: Vec<Option<First>>,
    pub executions: u64,
    pub faulted: u64,
    /// Of the largest launch, in work-items.
    pub largest: u64,
    pub ended: Ended,
}

/// The watched outcomes: position of the site, and of the outcome in it.
pub fn outcomes(sites: &Sites) -> Vec<(usize, usize)> {
    let watched = sites.sites.iter().enumerate().filter(|(_, s)| WATCHED.contains(&s.kind));
    watched.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect()
}

/// Called after every launch: executions, covered outcomes, all outcomes.
pub type Progress<'a> = dyn FnMut(u64, usize, usize) + 'a;

pub(super) struct Search<'a> {
    pub workshop: &'a Workshop<'a>,
    pub wishes: &'a Wishes,
    pub runs: &'a mut dyn Runs,
    pub limits: &'a Limits,
    outcomes: &'a [(usize, usize)],
    progress: &'a mut Progress<'a>,
    begun: Instant,
    kept: Vec<Kept>,
    first: Vec<Option<First>>,
    executions: u64,
    faulted: u64,
    largest: u64,
}

/// What is searched.
pub struct Subject<'a> {
    pub workshop: &'a Workshop<'a>,
    pub wishes: &'a Wishes,
    /// Those of [`outcomes`].
    pub outcomes: &'a [(usize, usize)],
}

/// Seeds, mutates, and minimises what was kept.
///
/// # Errors
/// As of [`Runs::run`] and of the first launches.
pub fn fuzz<'a>(
    subject: &Subject<'a>,
    request: &Request,
    limits: &'a Limits,
    runs: &'a mut dyn Runs,
    progress: &'a mut Progress<'a>,
) -> Result<Fuzzed> {
    let mut search = Search {
        workshop: subject.workshop,
        wishes: subject.wishes,
        runs,
        limits,
        outcomes: subject.outcomes,
        progress,
        begun: Instant::now(),
        kept: Vec::new(),
        first: vec![None; subject.outcomes.len()],
        executions: 0,
        faulted: 0,
        largest: 0,
    };
    let ended = search.search(request)?;
    let found = std::mem::take(&mut search.kept);
    let tests = minimise::minimise(&mut search, found)?;
    Ok(Fuzzed {
        tests,
        first: search.first,
        executions: search.executions,
        faulted: search.faulted,
        largest: search.largest,
        ended,
    })
}

impl Search<'_> {
    /// Why no more launches may be made.
    pub fn over(&self) -> Option<Ended> {
        if self.limits.max_execs.is_some_and(|most| self.executions >= most) {
            return Some(Ended::OutOfExecutions);
        }
        (Instant::now() >= self.limits.end).then_some(Ended::OutOfTime)
    }

    /// Makes and runs a launch.
    pub fn attempt(&mut self, genes: Genes, by: By) -> Result<Option<Kept>> {
        let (launch, preconditions) = genes::express(self.workshop, self.wishes, &genes)?;
        self.executions += 1;
        let left = self.limits.end.saturating_duration_since(Instant::now());
        let ran = self.runs.run(&launch, self.limits.launch.min(left))?;
        let Some(tally) = ran else {
            self.faulted += 1;
            return Ok(None);
        };
        self.largest = self.largest.max(launch.range.items());
        let covers = self.outcomes.iter().map(|(s, o)| tally[*s].hits[*o] > 0).collect();
        Ok(Some(Kept { name: String::new(), by, genes, launch, preconditions, tally, covers }))
    }

    /// Keeps an input that covers something new.
    fn consider(&mut self, mut found: Kept, name: String) -> bool {
        let first = First { by: found.by, after: self.begun.elapsed() };
        let mut gained = false;
        for (known, covers) in self.first.iter_mut().zip(&found.covers) {
            if *covers && known.is_none() {
                *known = Some(first);
                gained = true;
            }
        }
        // A suite has a test, even if there is nothing to cover.
        if gained || self.kept.is_empty() {
            found.name = unique(name, self.kept.iter().map(|k| k.name.as_str()));
            self.kept.push(found);
        }
        let covered = self.first.iter().flatten().count();
        (self.progress)(self.executions, covered, self.first.len());
        gained
    }

    fn all_covered(&self) -> bool {
        !self.kept.is_empty() && self.first.iter().all(Option::is_some)
    }

    fn search(&mut self, request: &Request) -> Result<Ended> {
        let mut parents: Vec<Genes> = Vec::new();
        let end = self.limits.end;
        for mut planned in launches::planned(self.workshop, request, &|| Instant::now() >= end)? {
            if let Some(ended) = self.over() {
                return Ok(ended);
            }
            if planned.geometry.range.items() > self.wishes.max_items && request.range.is_none() {
                continue;
            }
            let name = std::mem::take(&mut planned.name);
            let genes = Genes::of(planned, self.workshop.model, self.wishes);
            parents.push(genes.clone());
            if let Some(found) = self.attempt(genes, By::Seed)? {
                self.consider(found, name);
            }
            if self.all_covered() {
                return Ok(Ended::Covered);
            }
        }
        if self.limits.attempts == 0 {
            return Ok(Ended::Fruitless);
        }
        let mut mutator = Mutator::new(self.workshop, self.wishes, mix(request.seed, 1));
        if mutator.targets() == 0 {
            return Ok(Ended::Nothing);
        }
        let (mut fruitless, mut turn) = (0, 0);
        while fruitless < self.limits.attempts {
            if let Some(ended) = self.over() {
                return Ok(ended);
            }
            // Every other time the newest of those kept, else another of them; of the seeds as long as none runs.
            turn += 1;
            let parent = match self.kept.len() {
                0 => parents.get(turn % parents.len().max(1)),
                n if turn % 2 == 0 => self.kept.get(n - 1).map(|k| &k.genes),
                n => self.kept.get(turn / 2 % n).map(|k| &k.genes),
            };
            let Some(child) = parent.and_then(|parent| mutator.child(parent)) else { return Ok(Ended::Nothing) };
            fruitless += 1;
            if let Some(found) = self.attempt(child, By::Fuzz)?
                && self.consider(found, "fuzzed".to_owned())
            {
                fruitless = 0;
            }
            if self.all_covered() {
                return Ok(Ended::Covered);
            }
        }
        Ok(Ended::Fruitless)
    }
}
