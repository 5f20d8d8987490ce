//! Asks Z3 for values that satisfy a set of conditions, or for a proof that there are none.
//!
//! Each query has a context of its own, so that the answer does not depend on earlier queries; searches, whose answers
//! are only tried, share one between sessions ([`SharedContext`]).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use z3::ast::{BV, Bool};
use z3::{Config, Context, Params, SatResult, Solver};

use super::expression::{Node, Term, Terms};
use super::subterms::{Names, reachable};
use super::translate::Translation;

/// The largest number of terms that the conditions of [`Session::ask`] may depend on; those of a search depend on some
/// hundreds. Z3 simplifies assertions as they are made, which no limit bounds and which takes more than proportional
/// time: half a second for 2,000 terms of a hash function, over ten minutes for 36,000.
const MAX_TERMS: usize = 2_000;

/// The limits of a query.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Z3's resource limit, a measure of work; 0 for no limit.
    pub rlimit: u32,
    /// When the query is interrupted.
    pub end: Option<Instant>,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// There is no assignment that fulfils it.
    Unsat,
    /// This one does.
    Sat(Model),
    /// There is no answer; the reason, in Z3's words.
    Unknown(String),
}

/// Values that satisfy the conditions, as bits, for all symbols and applications of uninterpreted functions that the
/// conditions depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    symbols: BTreeMap<String, u64>,
    applications: BTreeMap<String, Vec<(Vec<u64>, u64)>>,
}

impl Model {
    /// The value of a symbol; `None` if the conditions do not depend on it.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).copied()
    }

    /// All symbols with their values, ordered by name.
    pub fn symbols(&self) -> impl Iterator<Item = (&str, u64)> {
        self.symbols.iter().map(|(name, bits)| (name.as_str(), *bits))
    }

    /// The arguments and results of a function, each once and in order.
    pub fn applications(&self, name: &str) -> Vec<(Vec<u64>, u64)> {
        self.applications.get(name).cloned().unwrap_or_default()
    }

    /// The result of a function for given arguments; `None` if the conditions do not depend on it.
    pub fn application(&self, name: &str, args: &[u64]) -> Option<u64> {
        let all = self.applications.get(name)?;
        let at = all.partition_point(|(known, _)| known.as_slice() < args);
        all.get(at).filter(|(known, _)| known == args).map(|(_, value)| *value)
    }

    /// The names of the functions that have applications.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.applications.keys().map(String::as_str)
    }
}

/// Checks whether the conditions (one-bit terms) are satisfiable together. Applications of an uninterpreted function to
/// equal arguments have equal values. [`Terms::facts`] are not included automatically.
pub fn solve(terms: &Terms, conditions: &[Term], limits: &Limits) -> Answer {
    let mut rest = Vec::new();
    for condition in conditions {
        match terms.as_constant(*condition) {
            Some(0) => return Answer::Unsat,
            Some(_) => {}
            None => rest.push(*condition),
        }
    }
    if rest.is_empty() {
        return Answer::Sat(Model::default());
    }
    if limits.end.is_some_and(|end| Instant::now() >= end) {
        return Answer::Unknown("no time was left".to_owned());
    }
    // On one level, so that Z3 uses the tactics that it has for complete problems.
    let mut session = Session::new(terms);
    for condition in rest {
        session.assert(condition);
    }
    session.answer(limits)
}

/// A minimal set of conditions that cannot hold together (an unsat core), as positions: none can be removed as far as
/// the limits allow to tell. `None` if the conditions can hold together, or if this could not be established.
pub fn contradiction(terms: &Terms, conditions: &[Term], limits: &Limits) -> Option<Vec<usize>> {
    if limits.end.is_some_and(|end| Instant::now() >= end) {
        return None;
    }
    let mut session = Session::new(terms);
    let mut core = session.core(conditions, limits)?;
    let mut kept = 0;
    while kept < core.len() {
        let mut fewer = core.clone();
        fewer.remove(kept);
        let subset: Vec<Term> = fewer.iter().map(|i| conditions[*i]).collect();
        match session.core(&subset, limits) {
            Some(smaller) => core = smaller.into_iter().map(|i| fewer[i]).collect(),
            None => kept += 1,
        }
        // Kept conditions can only disappear here if the check that kept them was inconclusive within the limits.
        kept = kept.min(core.len());
    }
    Some(core)
}

/// Returns whether conditions depend on too many terms for a search to ask about them.
pub fn is_too_large(terms: &Terms, conditions: &[Term]) -> bool {
    too_large(reachable(terms, conditions, Names::Functions).len()).is_some()
}

/// The reason not to ask about conditions, if they depend on too many terms.
fn too_large(count: usize) -> Option<String> {
    (count > MAX_TERMS).then(|| format!("{count} terms, more than {MAX_TERMS}"))
}

/// Captures or result of a closure that stays on its thread.
struct SameThread<T>(T);

// SAFETY: `with_z3_context` calls its closure on the calling thread before it returns, so that the value never
// reaches another thread.
unsafe impl<T> Send for SameThread<T> {}
// SAFETY: `with_z3_context` calls its closure on the calling thread before it returns, so that no other thread ever
// holds a reference to the value.
unsafe impl<T> Sync for SameThread<T> {}

impl<T> SameThread<T> {
    fn take(self) -> T {
        self.0
    }
}

/// Runs `f` with `context` as the thread's current context, in which Z3 objects are created.
fn in_context<R>(context: &Context, f: impl FnOnce() -> R) -> R {
    let f = SameThread(f);
    z3::with_z3_context(context, move || SameThread(f.take()())).take()
}

/// Runs `f` with a new context as the thread's current one.
pub fn in_new_context<R>(f: impl FnOnce() -> R) -> R {
    in_context(&SharedContext::new().0, f)
}

/// A context for many sessions, one after the other. Creating one per session would take longer than most answers do;
/// in exchange, the models found may depend on earlier queries in the same context.
#[derive(Clone)]
pub struct SharedContext(Context);

impl SharedContext {
    /// A new context for the calling thread.
    #[expect(clippy::new_without_default, reason = "it is no value to be had by the way")]
    pub fn new() -> SharedContext {
        SharedContext(z3::with_z3_config(&Config::new(), || SameThread(Context::thread_local())).take())
    }
}

/// A solver with conditions that are asserted once and queried often.
pub struct Session<'t> {
    terms: &'t Terms,
    translation: Translation<'t>,
    solver: Solver,
    context: Context,
    levels: Vec<Level>,
}

#[derive(Default)]
struct Level {
    roots: Vec<Term>,
    /// The terms that this level's conditions depend on, without those of lower levels.
    terms: BTreeSet<Term>,
}

impl<'t> Session<'t> {
    /// A session with a context of its own.
    pub fn new(terms: &'t Terms) -> Session<'t> {
        Session::in_context(terms, &SharedContext::new())
    }

    /// A session in a context that earlier sessions have used.
    pub fn in_context(terms: &'t Terms, shared: &SharedContext) -> Session<'t> {
        let context = shared.0.clone();
        let solver = in_context(&context, Solver::new);
        Session {
            terms,
            translation: Translation::new(terms, Names::Functions),
            solver,
            context,
            levels: vec![Level::default()],
        }
    }

    /// Asserts a one-bit term, until the current level is popped.
    pub fn assert(&mut self, condition: Term) {
        let context = self.context.clone();
        in_context(&context, || {
            let bit = self.translate(condition);
            self.solver.assert(bit);
        });
        if let Some(level) = self.levels.last_mut() {
            level.roots.push(condition);
        }
    }

    /// The reason not to ask about conditions together with what is asserted, if there is one.
    fn too_large(&self, conditions: &[Term]) -> Option<String> {
        let is_new = |term: &Term| !self.levels.iter().any(|level| level.terms.contains(term));
        let new = reachable(self.terms, conditions, Names::Functions).iter().filter(|term| is_new(term)).count();
        let known: usize = self.levels.iter().map(|level| level.terms.len()).sum();
        too_large(known + new)
    }

    /// Opens a level for further assertions.
    pub fn push(&mut self) {
        self.solver.push();
        self.levels.push(Level::default());
    }

    /// Discards the current level and its assertions; does nothing without a preceding push.
    pub fn pop(&mut self) {
        if self.levels.len() > 1 {
            self.solver.pop(1);
            self.levels.pop();
        }
    }

    /// Checks whether the conditions are satisfiable together with everything asserted.
    pub fn ask(&mut self, conditions: &[Term], limits: &Limits) -> Answer {
        if conditions.iter().any(|c| self.terms.as_constant(*c) == Some(0)) {
            return Answer::Unsat;
        }
        if let Some(reason) = self.too_large(conditions) {
            return Answer::Unknown(reason);
        }
        self.push();
        for condition in conditions {
            self.assert(*condition);
        }
        let answer = self.answer(limits);
        self.pop();
        answer
    }

    /// Checks whether everything asserted is satisfiable.
    fn answer(&mut self, limits: &Limits) -> Answer {
        let context = self.context.clone();
        in_context(&context, || match self.check(limits, &[]) {
            Ok(SatResult::Unsat) => Answer::Unsat,
            Ok(SatResult::Sat) => self.model().map_or_else(|| Answer::Unknown("no model".to_owned()), Answer::Sat),
            Ok(SatResult::Unknown) => Answer::Unknown(self.solver.get_reason_unknown().unwrap_or_default()),
            Err(reason) => Answer::Unknown(reason.to_owned()),
        })
    }

    /// The positions of conditions that contradict each other and the assertions (an unsat core); `None` if there is no
    /// contradiction, or if this could not be established.
    pub fn core(&mut self, conditions: &[Term], limits: &Limits) -> Option<Vec<usize>> {
        self.push();
        let context = self.context.clone();
        let core = in_context(&context, || {
            let mut labels: Vec<Bool> = Vec::new();
            for (i, condition) in conditions.iter().enumerate() {
                let label = Bool::new_const(format!("condition {i}"));
                let bit = self.translate(*condition);
                self.solver.assert(label.implies(&bit));
                labels.push(label);
            }
            match self.check(limits, &labels) {
                Ok(SatResult::Unsat) => {
                    let core = self.solver.get_unsat_core();
                    Some((0..conditions.len()).filter(|i| core.contains(&labels[*i])).collect())
                }
                _ => None,
            }
        });
        self.pop();
        core
    }

    fn check(&self, limits: &Limits, assumptions: &[Bool]) -> Result<SatResult, &'static str> {
        let mut params = Params::new();
        params.set_u32("rlimit", limits.rlimit);
        if let Some(end) = limits.end {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("no time was left");
            }
            params.set_u32("timeout", u32::try_from(left.as_millis().max(1)).unwrap_or(u32::MAX));
        }
        self.solver.set_params(&params);
        Ok(if assumptions.is_empty() { self.solver.check() } else { self.solver.check_assumptions(assumptions) })
    }

    /// Translates a condition for Z3, and asserts the definitions of the terms that it depends on.
    fn translate(&mut self, condition: Term) -> Bool {
        let needed = reachable(self.terms, &[condition], Names::Functions);
        self.translation.add(&needed);
        for term in needed {
            if self.levels.iter().any(|level| level.terms.contains(&term)) {
                continue;
            }
            if let Some(definition) = self.translation.definition(term) {
                self.solver.assert(definition);
            }
            if let Some(level) = self.levels.last_mut() {
                level.terms.insert(term);
            }
        }
        self.translation.is_true(condition)
    }

    fn model(&mut self) -> Option<Model> {
        let found = self.solver.get_model()?;
        let roots: Vec<Term> = self.levels.iter().flat_map(|l| l.roots.iter().copied()).collect();
        let mut model = Model::default();
        let value = |bits: Option<BV>| found.eval(&bits?, true)?.as_u64();
        for term in reachable(self.terms, &roots, Names::Functions) {
            match self.terms.node(term) {
                Node::Symbol(name) => {
                    if let Some(bits) = value(self.translation.bits_of(term)) {
                        model.symbols.insert(name.clone(), bits);
                    }
                }
                Node::Unknown(name, args) => {
                    let at: Option<Vec<u64>> = args.iter().map(|arg| value(self.translation.bits_of(*arg))).collect();
                    if let (Some(at), Some(bits)) = (at, value(self.translation.bits_of(term))) {
                        model.applications.entry(name.clone()).or_default().push((at, bits));
                    }
                }
                _ => {}
            }
        }
        for applications in model.applications.values_mut() {
            applications.sort_unstable();
            applications.dedup();
        }
        Some(model)
    }
}

#[cfg(test)]
mod tests {
    use super::super::expression::{Operation, Sort};
    use super::*;

    const LIMITS: Limits = Limits { rlimit: 5_000_000, end: None };

    fn compare(terms: &mut Terms, operation: Operation, left: Term, bits: u64) -> Term {
        let sort = terms.sort(left);
        let right = terms.constant(bits, sort);
        terms.compare(operation, left, right)
    }

    #[test]
    fn a_model_has_symbols_and_applications() {
        let mut terms = Terms::default();
        let wide = Sort::Bits(32);
        let i = terms.symbol("i", wide);
        let j = terms.symbol("j", wide);
        let at_i = terms.unknown("a", vec![i], wide);
        let at_j = terms.unknown("a", vec![j], wide);
        let conditions = [
            compare(&mut terms, Operation::Eq, i, 7),
            compare(&mut terms, Operation::Eq, at_i, 12345),
            compare(&mut terms, Operation::Eq, at_j, 6),
        ];
        let Answer::Sat(model) = solve(&terms, &conditions, &LIMITS) else { panic!("there is a solution") };
        assert_eq!(model.symbol("i"), Some(7));
        let j_is = model.symbol("j").unwrap();
        assert_ne!(j_is, 7);
        let mut expected = vec![(vec![7], 12345), (vec![j_is], 6)];
        expected.sort();
        assert_eq!(model.applications("a"), expected);
        assert_eq!(model.symbol("k"), None);

        let same = terms.compare(Operation::Eq, i, j);
        let all = [conditions[0], conditions[1], conditions[2], same];
        assert_eq!(solve(&terms, &all, &LIMITS), Answer::Unsat);
        assert_eq!(contradiction(&terms, &all, &LIMITS), Some(vec![1, 2, 3]));
        assert_eq!(contradiction(&terms, &conditions, &LIMITS), None);
    }

    #[test]
    fn a_session_keeps_what_is_asserted_to_its_level() {
        let mut terms = Terms::default();
        let x = terms.symbol("x", Sort::Float(32));
        let one = terms.constant(1f32.to_bits().into(), Sort::Float(32));
        let sum = terms.apply(Operation::FAdd, vec![x, one], Sort::Float(32));
        let bits = terms.apply(Operation::ToBits, vec![sum], Sort::Bits(32));
        let is_three = compare(&mut terms, Operation::Eq, bits, 3f32.to_bits().into());
        let is_four = compare(&mut terms, Operation::Eq, bits, 4f32.to_bits().into());
        let positive = compare(&mut terms, Operation::Slt, bits, 0);
        let positive = terms.not(positive);
        let mut session = Session::new(&terms);
        session.assert(positive);
        for _ in 0..2 {
            session.push();
            session.assert(is_three);
            assert_eq!(session.ask(&[is_four], &LIMITS), Answer::Unsat);
            session.pop();
            let Answer::Sat(model) = session.ask(&[is_four], &LIMITS) else { panic!("there is a solution") };
            assert_eq!(model.symbol("x"), Some(3f32.to_bits().into()));
        }
        session.pop();
        assert!(matches!(session.ask(&[is_three], &LIMITS), Answer::Sat(_)));
    }

    #[test]
    fn limits_are_respected() {
        let mut terms = Terms::default();
        let wide = Sort::Bits(64);
        let (x, y) = (terms.symbol("x", wide), terms.symbol("y", wide));
        let product = terms.apply(Operation::Mul, vec![x, y], wide);
        let prime = compare(&mut terms, Operation::Eq, product, 18_446_744_073_709_551_557);
        let mut conditions = vec![prime];
        for factor in [x, y] {
            conditions.push(compare(&mut terms, Operation::Ult, factor, 1 << 32));
        }
        let begin = Instant::now();
        let little = Limits { rlimit: 10_000, end: None };
        assert!(matches!(solve(&terms, &conditions, &little), Answer::Unknown(_)));
        let past = Limits { rlimit: 0, end: Some(begin) };
        assert!(matches!(solve(&terms, &conditions, &past), Answer::Unknown(_)));
    }

    #[test]
    fn conditions_on_too_many_terms_are_not_asked() {
        let mut terms = Terms::default();
        let wide = Sort::Bits(32);
        let rounds = |terms: &mut Terms, count: u64| {
            let mut state = terms.symbol("x", wide);
            for round in 0..count {
                let (left, right) = (terms.constant(7 + round % 5, wide), terms.constant(25 - round % 5, wide));
                let high = terms.apply(Operation::Shl, vec![state, left], wide);
                let low = terms.apply(Operation::LShr, vec![state, right], wide);
                let turned = terms.apply(Operation::Or, vec![high, low], wide);
                state = terms.apply(Operation::Add, vec![state, turned], wide);
            }
            compare(terms, Operation::Eq, state, 0)
        };
        let (few, many) = (rounds(&mut terms, 3), rounds(&mut terms, 700));
        let large = Answer::Unknown("2814 terms, more than 2000".to_owned());
        assert!(is_too_large(&terms, &[few, many]) && !is_too_large(&terms, &[few]));
        let mut session = Session::new(&terms);
        session.assert(few);
        assert_eq!(session.ask(&[many], &LIMITS), large);
        assert!(matches!(session.ask(&[], &LIMITS), Answer::Sat(_)));
    }

    #[test]
    fn constants_need_no_solver() {
        let mut terms = Terms::default();
        let (yes, no) = (terms.truth(true), terms.truth(false));
        assert_eq!(solve(&terms, &[yes], &LIMITS), Answer::Sat(Model::default()));
        assert_eq!(solve(&terms, &[yes, no], &LIMITS), Answer::Unsat);
    }
}
