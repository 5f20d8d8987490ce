//! What all ways of searching share: launches are run with coverage probes, and inputs that cover something new are kept.
//!
//! A searcher hands over inputs: as genes, where it knows how the input came about (they can be changed, and made smaller), or as a
//! launch that is ready.

use std::time::{Duration, Instant};

use super::branch_distance::{BranchDistances, Gain};
use super::decode::Decoder;
use super::faulting_launches;
use super::genotype::Genotype;
use super::interface_file::Wishes;
use super::launch_builder::{LaunchBuilder, Outcome};
use super::launches::unique;
use crate::cfg::sites::{SiteKind, Sites};
use crate::coverage::tally::SiteTally;
use crate::error::Result;
use crate::exec::simulator::compare::Compared;
use crate::result::generate::By;
use crate::suite::faults::Faulted;
use crate::suite::launch::Launch;

/// Decides whether outcomes of such sites make an input worth keeping: lines, statements and regions follow from the others.
fn is_watched(kind: SiteKind) -> bool {
    match kind {
        SiteKind::Branch | SiteKind::Condition | SiteKind::Loop | SiteKind::Barrier => true,
        SiteKind::Line | SiteKind::Statement | SiteKind::Region => false,
    }
}

/// Runs a launch with coverage probes.
pub trait Runs {
    /// What came of it.
    ///
    /// # Errors
    /// Of the environment, or of kassay.
    fn run(&mut self, launch: &Launch, limit: Duration) -> Result<Ran>;
}

/// What came of a launch.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    Shown(Shown),
    /// It accessed arguments beyond their ends: position, and how far in bytes.
    Beyond(Vec<(u32, u64)>),
    /// It did something else that no kernel may, did not end in time or fuel, or cannot be launched.
    Useless,
}

/// What a launch showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// By site.
    pub tally: Vec<SiteTally>,
    /// By comparison; empty if nobody looked.
    pub compared: Vec<Compared>,
    /// What faulted, in a launch that allows it.
    pub faulted: Vec<Faulted>,
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
    /// How it was made, unless it came as a launch.
    pub(super) genotype: Option<Genotype>,
    pub launch: Launch,
    pub preconditions: Vec<String>,
    pub tally: Vec<SiteTally>,
    /// By outcome, in the order of [`outcomes`].
    pub covers: Vec<bool>,
    /// What faulted; mostly nothing.
    pub faulted: Vec<Faulted>,
}

/// How an outcome was covered first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct First {
    pub by: By,
    /// Since the search began.
    pub after: Duration,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Covered,
    Fruitless,
    OutOfTime,
    OutOfExecutions,
    /// No argument may be changed.
    Nothing,
}

/// What all searching came to.
#[derive(Debug, Clone)]
pub struct Found {
    /// Inputs that cover all that is covered.
    pub tests: Vec<Kept>,
    /// By outcome.
    pub first: Vec<Option<First>>,
    /// By outcome: whether a launch that does not fault covers it.
    pub clean: Vec<bool>,
    pub tried: Tried,
}

/// The watched outcomes: position of the site, and of the outcome in it.
pub fn outcomes(sites: &Sites) -> Vec<(usize, usize)> {
    let watched = sites.sites.iter().enumerate().filter(|(_, s)| is_watched(s.kind));
    watched.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect()
}

/// Called after every launch: executions, covered outcomes, all outcomes.
pub type Progress<'a> = dyn FnMut(u64, usize, usize) + 'a;

/// Called for every input that is kept, before it counts: the outcomes that it covers first, and how far the search is.
pub type Record<'a> = dyn FnMut(&Kept, &[usize], &Tried) -> Result<()> + 'a;

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Tried {
    /// Launches that were made.
    pub executions: u64,
    /// Of those: launches of no use.
    pub faulted: u64,
    /// Of the largest one, in work-items.
    pub largest: u64,
}

/// An input that an earlier search kept.
#[derive(Debug, Clone)]
pub struct Known {
    pub name: String,
    pub first: First,
    pub(super) genotype: Option<Genotype>,
    pub launch: Launch,
    pub preconditions: Vec<String>,
    pub tried: Tried,
}

/// What is searched.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub launch_builder: &'a LaunchBuilder<'a>,
    pub wishes: &'a Wishes,
    /// Those of [`outcomes`].
    pub outcomes: &'a [(usize, usize)],
    /// By outcome: whether it is a goal; the others only make inputs worth keeping.
    pub goals: &'a [bool],
}

/// How often arguments of guessed length may grow for one input.
const GROWTHS: usize = 6;

/// A launch that is larger than usual may take this part of the time that is left.
const LARGE_SHARE: u32 = 4;

/// Launches of no use that are kept in mind.
const MOST_FAULTING: usize = 48;

/// A launch of no use.
struct Faulting {
    genotype: Option<Genotype>,
    launch: Launch,
    preconditions: Vec<String>,
    by: By,
}

/// A run that was made.
enum Attempt {
    /// Nothing if it is of no use.
    Done(Option<Box<Kept>>),
    /// See [`Ran::Beyond`].
    Beyond(Vec<(u32, u64)>),
}

/// The inputs kept so far, and what they cover.
pub struct Search<'a> {
    pub subject: Subject<'a>,
    pub limits: &'a Limits,
    decoder: Decoder<'a>,
    runs: &'a mut dyn Runs,
    progress: &'a mut Progress<'a>,
    record: &'a mut Record<'a>,
    begun: Instant,
    kept: Vec<Kept>,
    first: Vec<Option<First>>,
    clean: Vec<bool>,
    /// Launches of no use, as long as faults are not allowed: some that fault may be of use later.
    faulting: Vec<Faulting>,
    allows_faults: bool,
    tried: Tried,
    pub(super) near: BranchDistances,
    /// What the last launch added to it.
    pub(super) gain: Gain,
}

impl<'a> Search<'a> {
    pub fn new(
        subject: Subject<'a>,
        limits: &'a Limits,
        runs: &'a mut dyn Runs,
        progress: &'a mut Progress<'a>,
        record: &'a mut Record<'a>,
    ) -> Search<'a> {
        Search {
            subject,
            limits,
            decoder: Decoder::new(subject.launch_builder, subject.wishes, limits.end),
            runs,
            progress,
            record,
            begun: Instant::now(),
            kept: Vec::new(),
            first: vec![None; subject.outcomes.len()],
            clean: vec![false; subject.outcomes.len()],
            faulting: Vec::new(),
            allows_faults: false,
            tried: Tried::default(),
            near: BranchDistances::default(),
            gain: Gain::default(),
        }
    }

    /// Why no more launches may be made.
    pub fn over(&self) -> Option<Ended> {
        if self.limits.max_execs.is_some_and(|most| self.tried.executions >= most) {
            return Some(Ended::OutOfExecutions);
        }
        (Instant::now() >= self.limits.end).then_some(Ended::OutOfTime)
    }

    /// Makes and runs a launch. `tried`: what trying out its plan has given, if that was done.
    pub(super) fn attempt(&mut self, genotype: Genotype, tried: Option<Outcome>, by: By) -> Result<Option<Kept>> {
        let Some((launch, preconditions)) = self.decoder.express(&genotype, tried)? else { return Ok(None) };
        let mut made = (launch, preconditions);
        for _ in 0..GROWTHS {
            let reached = match self.attempt_with(Some(&genotype), &made.0, by)? {
                Attempt::Done(Some(kept)) => return Ok(Some(Kept { preconditions: made.1, ..*kept })),
                Attempt::Done(None) => break,
                Attempt::Beyond(reached) => reached,
            };
            if self.over().is_some() {
                return Ok(None);
            }
            if !self.decoder.grow(&genotype, &reached) {
                break;
            }
            match self.decoder.express(&genotype, None)? {
                Some(larger) => made = larger,
                None => break,
            }
        }
        self.fault(Some(genotype), made, by)
    }

    /// The launch that genes come to, and what is assumed of it; `None` as of [`Decoder::express`].
    pub(super) fn expressed(&mut self, genotype: &Genotype) -> Result<Option<(Launch, Vec<String>)>> {
        self.decoder.express(genotype, None)
    }

    /// Runs a launch that is ready; `None` if it is of no use: it did what no kernel may, or did not end. It is not kept yet: see
    /// [`Search::consider`].
    ///
    /// # Errors
    /// As of [`Runs::run`].
    pub fn attempt_launch(&mut self, launch: Launch, preconditions: Vec<String>, by: By) -> Result<Option<Kept>> {
        let launch = Launch { allows_faults: false, margins: Vec::new(), ..launch };
        match self.attempt_with(None, &launch, by)? {
            Attempt::Done(Some(kept)) => Ok(Some(Kept { preconditions, ..*kept })),
            _ => self.fault(None, (launch, preconditions), by),
        }
    }

    /// Whether launches that fault are of use.
    pub(super) fn allows_faults(&self) -> bool {
        self.allows_faults
    }

    /// From now on launches that fault are of use.
    ///
    /// # Errors
    /// As of [`Runs::run`], and if what is found cannot be recorded.
    pub fn allow_faults(&mut self) -> Result<()> {
        self.allows_faults = true;
        for faulting in std::mem::take(&mut self.faulting) {
            if self.over().is_some() {
                break;
            }
            let Faulting { genotype, launch, preconditions, by } = faulting;
            if let Some(found) = self.fault(genotype, (launch, preconditions), by)? {
                self.consider(found, "with faults".to_owned())?;
            }
        }
        Ok(())
    }

    /// Runs a launch of no use once more with its faults allowed, or keeps it in mind for that.
    fn fault(
        &mut self,
        genotype: Option<Genotype>,
        (launch, preconditions): (Launch, Vec<String>),
        by: By,
    ) -> Result<Option<Kept>> {
        if !self.allows_faults {
            // The first ones differ most.
            if self.faulting.len() < MOST_FAULTING {
                self.faulting.push(Faulting { genotype, launch, preconditions, by });
            }
            return Ok(None);
        }
        if self.over().is_some() {
            return Ok(None);
        }
        let launch = Launch { allows_faults: true, ..launch };
        match self.attempt_with(genotype.as_ref(), &launch, by)? {
            Attempt::Done(Some(kept)) => Ok(Some(Kept { preconditions, ..*kept })),
            _ => Ok(None),
        }
    }

    fn attempt_with(&mut self, genotype: Option<&Genotype>, launch: &Launch, by: By) -> Result<Attempt> {
        self.tried.executions += 1;
        let mut left = self.limits.end.saturating_duration_since(Instant::now());
        if launch.range.items() > self.subject.wishes.usual_items {
            left /= LARGE_SHARE;
        }
        let attempt = self.run(genotype, launch, by, self.limits.launch.min(left))?;
        match &attempt {
            Attempt::Done(Some(kept)) => self.tried.largest = self.tried.largest.max(kept.launch.range.items()),
            _ => self.tried.faulted += 1,
        }
        Ok(attempt)
    }

    fn run(&mut self, genotype: Option<&Genotype>, launch: &Launch, by: By, limit: Duration) -> Result<Attempt> {
        self.gain = Gain::default();
        let Shown { tally, compared, faulted } = match self.runs.run(launch, limit)? {
            Ran::Shown(shown) => shown,
            Ran::Beyond(reached) => return Ok(Attempt::Beyond(reached)),
            Ran::Useless => return Ok(Attempt::Done(None)),
        };
        self.gain = self.near.note(&compared, genotype, launch);
        let covers = self.subject.outcomes.iter().map(|(s, o)| tally[*s].hits[*o] > 0).collect();
        Ok(Attempt::Done(Some(Box::new(Kept {
            name: String::new(),
            by,
            genotype: genotype.cloned(),
            launch: self.with_margins(launch, &faulted),
            preconditions: Vec::new(),
            tally,
            covers,
            faulted,
        }))))
    }

    /// The launch as a test has it: with margins where it faults, without a leave to fault where it does not.
    fn with_margins(&self, launch: &Launch, faulted: &[Faulted]) -> Launch {
        let allows_faults = launch.allows_faults && !faulted.is_empty();
        let mut launch = Launch { allows_faults, margins: Vec::new(), ..launch.clone() };
        faulting_launches::give_margins(&self.subject.launch_builder.model.interface, faulted, &mut launch);
        launch
    }

    /// Goes on from inputs that an earlier search kept: they run again, and what they cover counts as covered when it was then.
    ///
    /// # Errors
    /// As of [`Runs::run`].
    pub fn resume(&mut self, known: Vec<Known>) -> Result<()> {
        for known in known {
            self.tried = known.tried;
            let limit = self.limits.launch;
            let run = self.run(known.genotype.as_ref(), &known.launch, known.first.by, limit)?;
            if let Attempt::Done(Some(kept)) = run {
                let gained = self.gain(&kept, known.first);
                if !gained.is_empty() || self.kept.is_empty() {
                    self.kept.push(Kept { name: known.name, preconditions: known.preconditions, ..*kept });
                }
            }
        }
        Ok(())
    }

    /// The outcomes that an input covers first, or first without a fault; from now on they count as covered.
    fn gain(&mut self, kept: &Kept, first: First) -> Vec<usize> {
        let mut gained = Vec::new();
        let is_clean = kept.faulted.is_empty();
        for (o, _) in kept.covers.iter().enumerate().filter(|(_, covers)| **covers) {
            if self.first[o].is_none() || is_clean && !self.clean[o] {
                self.first[o].get_or_insert(first);
                gained.push(o);
            }
            self.clean[o] |= is_clean;
        }
        gained
    }

    /// Keeps an input that covers something new; whether it does. `name` gets a number if another has it.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn consider(&mut self, mut found: Kept, name: String) -> Result<bool> {
        let first = First { by: found.by, after: self.begun.elapsed() };
        let gained = self.gain(&found, first);
        // A suite has a test, even if there is nothing to cover.
        if !gained.is_empty() || self.kept.is_empty() {
            found.name = unique(name, self.kept.iter().map(|k| k.name.as_str()));
            (self.record)(&found, &gained, &self.tried)?;
            self.kept.push(found);
        }
        let covered = self.first.iter().flatten().count();
        (self.progress)(self.tried.executions, covered, self.first.len());
        Ok(!gained.is_empty())
    }

    /// How far it is.
    pub fn tried(&self) -> Tried {
        self.tried
    }

    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// How each outcome was covered first, as far as it was.
    pub fn first(&self) -> &[Option<First>] {
        &self.first
    }

    /// Whether no goal is left.
    pub fn goals_covered(&self) -> bool {
        self.first.iter().zip(self.subject.goals).all(|(first, is_goal)| first.is_some() || !is_goal)
    }

    /// Whether nothing is left to be covered.
    pub fn all_covered(&self) -> bool {
        !self.kept.is_empty() && self.first.iter().all(Option::is_some)
    }

    /// Puts other inputs in the place of those kept so far, and gives these.
    pub(super) fn replace(&mut self, kept: Vec<Kept>) -> Vec<Kept> {
        std::mem::replace(&mut self.kept, kept)
    }

    /// What it came to.
    pub fn found(self) -> Found {
        Found { tests: self.kept, first: self.first, clean: self.clean, tried: self.tried }
    }
}
