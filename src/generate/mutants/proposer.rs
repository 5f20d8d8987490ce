//! What finds inputs by other means than chance.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::coverage::build::KernelUnderTest;
use crate::error::Result;
use crate::generate::interface_file::Wishes;
use crate::generate::resize_buffers;
use crate::generate::solving::{self, ATTEMPTS, PATH, STEPS};
use crate::instrument::mutants::Edit;
use crate::instrument::mutants::infection;
use crate::kernel::interface::Interface;
use crate::mutation::{ByMutant, Mutant, MutantIndex};
use crate::program::{Program, promoted, reader};
use crate::suite::launch::Launch;
use crate::symbolic::concolic::{Engine, Limits, Proposal};

/// Finds inputs that make a mutant's value differ from the original's. Mutants are told by their position among those that are
/// searched for.
pub trait Proposer {
    /// Takes a launch that ran as one that others may be made of.
    fn parent(&mut self, launch: &Launch);

    /// A launch that may infect one of the wanted mutants; `None` if there is nothing left to try, or the time is up.
    fn next(&mut self, wanted: &BTreeSet<MutantIndex>, end: Instant) -> Option<Launch>;

    /// A launch that was proposed, with sizes that fit where it goes beyond its buffers, and what is assumed of it then.
    fn avoid_fault(&self, launch: &Launch, end: Instant) -> Option<(Launch, Vec<String>)>;

    /// What came of the launch proposed last, repaired or not: whether it was of use.
    fn ran(&mut self, launch: &Launch, useful: bool);
}

/// Proposes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Proposer for Nobody {
    fn parent(&mut self, _: &Launch) {}

    fn next(&mut self, _: &BTreeSet<MutantIndex>, _: Instant) -> Option<Launch> {
        None
    }

    fn avoid_fault(&self, _: &Launch, _: Instant) -> Option<(Launch, Vec<String>)> {
        None
    }

    fn ran(&mut self, _: &Launch, _: bool) {}
}

/// A kernel as plain data, with a mark wherever a mutant is infected.
pub struct Marked {
    program: Program,
    /// By mark: the mutant.
    members: Vec<MutantIndex>,
}

impl Marked {
    /// # Errors
    /// `Internal` if a pass fails.
    pub fn new(under_test: &KernelUnderTest<'_>, mutants: &ByMutant<&Mutant>) -> Result<Marked> {
        let members: Vec<MutantIndex> = mutants.positions().filter(|m| mutants[*m].edit.is_woven()).collect();
        let edit = |m: &MutantIndex| (m.0 as u32, &mutants[*m].edit, mutants[*m].is_structural);
        let edits: Vec<(u32, &Edit, bool)> = members.iter().map(edit).collect();
        let module = under_test.module.clone();
        infection::mark(&module, &under_test.sites, &edits)?;
        let promoted = promoted::promote(&module, &under_test.entry, &under_test.machine)?;
        Ok(Marked { program: reader::read(&promoted, &under_test.entry)?, members })
    }
}

/// Solves for inputs.
pub struct Solver<'p> {
    marked: &'p Marked,
    interface: &'p Interface,
    engine: Engine<'p>,
    /// Launches that are not interpreted yet, oldest first.
    waiting: Vec<Launch>,
    /// By number of the engine's parents.
    parents: Vec<Launch>,
    last: Option<Proposal>,
    /// What interpreting a parent took at most: it is not begun when less time is left.
    slowest: Duration,
}

impl<'p> Solver<'p> {
    pub fn new(marked: &'p Marked, interface: &'p Interface, wishes: &Wishes) -> Solver<'p> {
        Solver {
            marked,
            interface,
            engine: Engine::new(&marked.program, interface, &solving::bounds(wishes), solving::ranges(wishes)),
            waiting: Vec::new(),
            parents: Vec::new(),
            last: None,
            slowest: Duration::ZERO,
        }
    }

    fn adopt(&mut self, launch: Launch) {
        let begun = Instant::now();
        self.engine.parent(&launch);
        self.slowest = self.slowest.max(begun.elapsed());
        self.parents.push(launch);
    }
}

impl Proposer for Solver<'_> {
    fn parent(&mut self, launch: &Launch) {
        self.waiting.push(launch.clone());
    }

    fn next(&mut self, wanted: &BTreeSet<MutantIndex>, end: Instant) -> Option<Launch> {
        for launch in std::mem::take(&mut self.waiting) {
            if Instant::now() + self.slowest >= end {
                return None;
            }
            self.adopt(launch);
        }
        let marks = (0u32..).zip(&self.marked.members).filter(|(_, m)| wanted.contains(m)).map(|(mark, _)| mark);
        let limits = Limits { end: Some(end), steps: STEPS, rlimit: PATH, attempts: ATTEMPTS };
        let proposal = self.engine.next(&marks.collect(), &limits)?;
        let launch = proposal.apply(self.parents.get(proposal.parent)?);
        self.last = Some(proposal);
        Some(launch)
    }

    fn avoid_fault(&self, launch: &Launch, end: Instant) -> Option<(Launch, Vec<String>)> {
        resize_buffers::refitted(&self.marked.program, self.interface, launch, end)
    }

    fn ran(&mut self, launch: &Launch, useful: bool) {
        let Some(proposal) = self.last.take() else { return };
        self.engine.outcome(&proposal, useful.then_some(launch));
        // The engine takes a launch that did something else than was foreseen as a parent of its own.
        while self.parents.len() < self.engine.parents() {
            self.parents.push(launch.clone());
        }
    }
}
