//! Questions to Z3 about facts on integers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use z3::ast::{Bool, Int};
use z3::{Params, SatResult, Solver};

use crate::solve::integers::Fact;

/// What came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The facts contradict each other.
    Impossible,
    /// There is a model.
    Possible,
    /// Z3 gave up.
    Unknown,
}

/// Counts questions, and ends them in time.
#[derive(Clone)]
pub struct Solving {
    queries: Rc<Cell<u64>>,
    /// Solvers that know nothing: making one takes longer than most questions do.
    idle: Rc<RefCell<Vec<Rc<Solver>>>>,
    /// When questions are not asked any more.
    pub end: Option<Instant>,
}

impl Solving {
    /// Questions that end at a time.
    pub fn until(end: Option<Instant>) -> Solving {
        Solving { queries: Rc::default(), idle: Rc::default(), end }
    }

    /// A solver that knows these facts.
    pub fn solver(&self, facts: &[Bool], rlimit: u32) -> KnowingSolver {
        let solver = self.idle.borrow_mut().pop().unwrap_or_default();
        solver.push();
        facts.iter().for_each(|fact| solver.assert(fact));
        KnowingSolver { solver, rlimit, solving: self.clone(), timeout: None }
    }

    /// How many questions were asked.
    pub fn queries(&self) -> u64 {
        self.queries.get()
    }

    /// Whether no time is left.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// A solver that knows facts.
pub struct KnowingSolver {
    solver: Rc<Solver>,
    rlimit: u32,
    solving: Solving,
    /// Milliseconds that the solver knows it has for a question; `None` before the first one.
    timeout: Option<u32>,
}

impl Drop for KnowingSolver {
    fn drop(&mut self) {
        self.solver.pop(1);
        self.solving.idle.borrow_mut().push(Rc::clone(&self.solver));
    }
}

impl KnowingSolver {
    /// Adds a fact for good.
    pub fn learn(&mut self, fact: &Fact) {
        self.solver.assert(fact.bit());
    }

    /// Limits the next question. Telling the solver takes a fifth of the time of a plain question, so that it is told
    /// anew only where it would take an eighth too long.
    fn limit(&mut self, milliseconds: u32) {
        if self.timeout.is_some_and(|known| known - known / 8 <= milliseconds) {
            return;
        }
        let mut params = Params::new();
        params.set_u32("rlimit", self.rlimit);
        params.set_u32("timeout", milliseconds);
        self.solver.set_params(&params);
        self.timeout = Some(milliseconds);
    }

    /// Whether all of these may hold.
    pub fn check(&mut self, facts: &[Fact]) -> Outcome {
        self.ask(facts, &[]).0
    }

    /// Same, with the values of all these integers in a model; none if there is no model.
    pub fn ask(&mut self, facts: &[Fact], integers: &[Int]) -> (Outcome, Vec<i128>) {
        if facts.iter().any(Fact::is_false) {
            return (Outcome::Impossible, Vec::new());
        }
        let left = self.solving.end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return (Outcome::Unknown, Vec::new());
        }
        self.limit(left.map_or(u32::MAX, |left| u32::try_from(left.as_millis().max(1)).unwrap_or(u32::MAX)));
        self.solving.queries.set(self.solving.queries.get() + 1);
        self.solver.push();
        facts.iter().for_each(|fact| self.solver.assert(fact.bit()));
        let found = match self.solver.check() {
            SatResult::Unsat => (Outcome::Impossible, Vec::new()),
            SatResult::Unknown => (Outcome::Unknown, Vec::new()),
            SatResult::Sat => {
                let model = self.solver.get_model();
                let value = |integer: &Int| model.as_ref()?.eval(integer, true)?.as_i128();
                let values: Option<Vec<i128>> = integers.iter().map(value).collect();
                (Outcome::Possible, values.unwrap_or_default())
            }
        };
        self.solver.pop(1);
        found
    }
}
