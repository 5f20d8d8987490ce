//! Finds inputs by other means than random mutation.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_model::interface::Interface;
use kassay_prove::program::{Program, promoted, reader};
use kassay_prove::symbolic::concolic::{Engine, Limits, Proposal};
use kassay_suite::launch::Launch;

use crate::coverage::build::KernelUnderTest;
use crate::generate::interface_file::UserConstraints;
use crate::generate::resize_buffers;
use crate::generate::solving::{self, MAX_FLIPS, MAX_STEPS, PATH_RLIMIT};
use crate::mutation::run::mutant_pool::mark_infections;
use crate::mutation::{ByMutant, Mutant, MutantIndex};

/// Proposes inputs that make a mutant's value differ from the original's. Mutants are identified by their index among
/// those that are searched for.
pub trait Proposer {
    /// Adds a launch that ran, from which others may be derived.
    fn add_parent(&mut self, launch: &Launch);

    /// Returns a launch that may infect one of the wanted mutants; `None` if there is nothing left to try, or the time
    /// is up.
    fn next(&mut self, wanted: &BTreeSet<MutantIndex>, end: Instant) -> Option<Launch>;

    /// Returns a proposed launch with buffers resized to what it accesses, and the assumptions that this implies;
    /// `None` if nothing was too short.
    fn resize(&self, launch: &Launch, end: Instant) -> Option<(Launch, Vec<String>)>;

    /// Reports the result of the last proposal, as proposed or resized: whether it gained something.
    fn report(&mut self, launch: &Launch, useful: bool);
}

/// Proposes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullProposer;

impl Proposer for NullProposer {
    fn add_parent(&mut self, _: &Launch) {}

    fn next(&mut self, _: &BTreeSet<MutantIndex>, _: Instant) -> Option<Launch> {
        None
    }

    fn resize(&self, _: &Launch, _: Instant) -> Option<(Launch, Vec<String>)> {
        None
    }

    fn report(&mut self, _: &Launch, _: bool) {}
}

/// The kernel as a program, with a mark wherever a mutant is infected.
pub struct MarkedProgram {
    program: Program,
    /// The mutant of each mark.
    members: Vec<MutantIndex>,
}

impl MarkedProgram {
    /// Marks the infections of those mutants that change code.
    ///
    /// # Errors
    /// `Internal` if a pass fails.
    pub fn new(under_test: &KernelUnderTest<'_>, mutants: &ByMutant<&Mutant>) -> Result<MarkedProgram> {
        let (module, members) = mark_infections(under_test, mutants)?;
        let promoted = promoted::promote(&module, &under_test.entry, &under_test.machine)?;
        Ok(MarkedProgram { program: reader::read(&promoted, &under_test.entry)?, members })
    }
}

/// Proposes inputs found by concolic execution.
pub struct ConcolicProposer<'p> {
    marked: &'p MarkedProgram,
    interface: &'p Interface,
    engine: Engine<'p>,
    /// Launches that are not interpreted yet, oldest first.
    waiting: Vec<Launch>,
    /// The engine's parents, by their number.
    parents: Vec<Launch>,
    last: Option<Proposal>,
    /// Longest time that interpreting a parent took: another is not started if less time is left.
    slowest: Duration,
}

impl<'p> ConcolicProposer<'p> {
    /// Creates a proposer without parents yet; proposals respect the user's `constraints`.
    pub fn new(
        marked: &'p MarkedProgram,
        interface: &'p Interface,
        constraints: &UserConstraints,
    ) -> ConcolicProposer<'p> {
        ConcolicProposer {
            marked,
            interface,
            engine: Engine::new(
                &marked.program,
                interface,
                &solving::bounds(constraints),
                solving::ranges(constraints),
            ),
            waiting: Vec::new(),
            parents: Vec::new(),
            last: None,
            slowest: Duration::ZERO,
        }
    }

    fn adopt(&mut self, launch: Launch) {
        let started = Instant::now();
        self.engine.parent(&launch);
        self.slowest = self.slowest.max(started.elapsed());
        self.parents.push(launch);
    }
}

impl Proposer for ConcolicProposer<'_> {
    fn add_parent(&mut self, launch: &Launch) {
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
        let limits = Limits { end: Some(end), steps: MAX_STEPS, rlimit: PATH_RLIMIT, attempts: MAX_FLIPS };
        let proposal = self.engine.next(&marks.collect(), &limits)?;
        let launch = proposal.apply(self.parents.get(proposal.parent)?);
        self.last = Some(proposal);
        Some(launch)
    }

    fn resize(&self, launch: &Launch, end: Instant) -> Option<(Launch, Vec<String>)> {
        resize_buffers::resized(&self.marked.program, self.interface, launch, end)
    }

    fn report(&mut self, launch: &Launch, useful: bool) {
        let Some(proposal) = self.last.take() else { return };
        self.engine.outcome(&proposal, useful.then_some(launch));
        // The engine adopts a launch that did something unexpected as a parent of its own.
        while self.parents.len() < self.engine.parents() {
            self.parents.push(launch.clone());
        }
    }
}
