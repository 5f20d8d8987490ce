//! Finds loop invariants: generates candidates for the variables of each loop, and keeps those that no entry edge and
//! no back edge can violate.
//!
//! The check of one candidate may assume others ([`keep_confirmed`]). Suppose that an execution violates some
//! surviving candidate, and consider the first violation. It happens on an entry edge or a back edge, at which the
//! surviving candidates of all loops passed so far held; the check of that edge excludes this. For the argument to
//! hold, a check may assume candidates only of loops that lie before the edge, and only if the path passes through
//! their headers.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use super::background::Background;
use super::encode::{Encoded, IncomingEdge, Phi};
use super::float_abstraction::FloatAbstraction;
use crate::solve::expression::{Node, Operation, Sort, Term};
use crate::solve::houdini::keep_confirmed;
use crate::solve::query::{Answer, Limits, solve};

/// A candidate that survived.
pub struct Invariant {
    /// Position of its loop in [`Encoded::loops`].
    pub number: usize,
    /// States that the candidate holds if the loop is reached.
    pub holds: Term,
    /// Conditions of all edges into headers, under which candidates were checked.
    pub edge_conditions: Vec<Term>,
    /// Values with which the variables of loops start: the invariant may follow from facts about these.
    pub initial_values: Vec<Term>,
}

/// Largest number of candidates for one variable.
const MAX_CANDIDATES: usize = 60;
/// Limit on Z3's work for one check, in `rlimit` units.
const CHECK_RLIMIT: u32 = 200_000;
/// Same limit for the check of a single candidate.
const SINGLE_CHECK_RLIMIT: u32 = 50_000;
/// Largest number of variables of a loop that are compared with each other.
const MAX_COMPARED_VARIABLES: usize = 6;

struct Candidate {
    number: usize,
    /// In terms of the header's symbols.
    holds: Term,
    /// By entry edge, then by back edge: the edge's bit, and the candidate for the values that the edge brings.
    entries: Vec<(Term, Term)>,
    back_edges: Vec<(Term, Term)>,
}

/// Returns the invariants of all loops; none if the time runs out.
pub fn find(
    encoded: &mut Encoded<'_>,
    background: &[Background],
    abstraction: &mut FloatAbstraction,
    limits: &Limits,
) -> Vec<Invariant> {
    let mut candidates = Vec::new();
    for number in 0..encoded.loops.len() {
        let mut builder = CandidateBuilder { encoded, number };
        let found = builder.candidates();
        candidates.extend(found.into_iter().map(|holds| builder.build(holds)));
    }
    let known: Vec<Term> = background.iter().map(|b| b.holds).collect();
    let limits =
        Limits { rlimit: if limits.rlimit == 0 { CHECK_RLIMIT } else { limits.rlimit.min(CHECK_RLIMIT) }, ..*limits };
    while drop_violated(encoded, &mut candidates, &known, abstraction, &limits) {
        if limits.end.is_some_and(|end| Instant::now() >= end) {
            // A candidate that was not checked against the final set is not proved.
            return Vec::new();
        }
    }
    let mut edges: Vec<Term> = Vec::new();
    for l in &encoded.loops {
        edges.extend(l.phis.iter().flat_map(|p| p.entries.iter().chain(&p.back_edges)).map(|(active, _)| *active));
    }
    edges.sort_unstable();
    edges.dedup();
    let phis = encoded.loops.iter().flat_map(|l| &l.phis);
    let initial_values: Vec<Term> =
        phis.flat_map(|p| p.entries.iter().flat_map(|(_, value)| value.iter().copied())).collect();
    candidates
        .into_iter()
        .map(|g| {
            let holds = if_reached(encoded, &g);
            Invariant {
                number: g.number,
                holds,
                edge_conditions: edges.clone(),
                initial_values: initial_values.clone(),
            }
        })
        .collect()
}

/// States that the candidate holds if its loop is reached.
fn if_reached(encoded: &mut Encoded<'_>, candidate: &Candidate) -> Term {
    let not = encoded.terms.not(encoded.loops[candidate.number].reach);
    encoded.terms.or(not, candidate.holds)
}

/// Checks every candidate under those that remain; returns whether any was dropped.
fn drop_violated(
    encoded: &mut Encoded<'_>,
    candidates: &mut Vec<Candidate>,
    known: &[Term],
    abstraction: &mut FloatAbstraction,
    limits: &Limits,
) -> bool {
    let before = candidates.len();
    for number in 0..encoded.loops.len() {
        for is_back in [false, true] {
            let count = {
                let Some(first) = candidates.iter().find(|g| g.number == number) else { continue };
                if is_back { first.back_edges.len() } else { first.entries.len() }
            };
            for edge in 0..count {
                check(encoded, candidates, known, abstraction, limits, (number, is_back, edge));
            }
        }
    }
    candidates.len() < before
}

/// Drops the candidates of a loop that an edge into its header may violate.
fn check(
    encoded: &mut Encoded<'_>,
    candidates: &mut Vec<Candidate>,
    background: &[Term],
    abstraction: &mut FloatAbstraction,
    limits: &Limits,
    (number, is_back, edge): (usize, bool, usize),
) {
    keep_confirmed(candidates, |known| {
        violated(encoded, known, background, abstraction, limits, (number, is_back, edge))
    });
}

/// Returns the positions of candidates of a loop that an edge into its header may violate.
fn violated(
    encoded: &mut Encoded<'_>,
    candidates: &[Candidate],
    background: &[Term],
    abstraction: &mut FloatAbstraction,
    limits: &Limits,
    (number, is_back, edge): (usize, bool, usize),
) -> BTreeSet<usize> {
    let at = |g: &Candidate| if is_back { g.back_edges[edge] } else { g.entries[edge] };
    let own: BTreeSet<usize> = (0..candidates.len()).filter(|i| candidates[*i].number == number).collect();
    let Some(first) = own.first() else { return own };
    let active = at(&candidates[*first]).0;
    let before = if is_back { encoded.loops[number].inner_end } else { number };
    let mut conditions = background.to_vec();
    conditions.push(active);
    for candidate in candidates.iter().filter(|g| g.number < before) {
        conditions.push(if_reached(encoded, candidate));
    }
    // One bit for each candidate, to see in the model which are violated.
    let mut any = encoded.terms.truth(false);
    let mut names = Vec::new();
    for i in &own {
        let then = at(&candidates[*i]).1;
        let broken = encoded.terms.not(then);
        any = encoded.terms.or(any, broken);
        let name = format!("broken {i}");
        let bit = encoded.terms.symbol(name.clone(), Sort::Bits(1));
        conditions.push(encoded.terms.compare(Operation::Eq, bit, broken));
        names.push((*i, name, abstraction.abstracted(&mut encoded.terms, broken)));
    }
    conditions.push(any);
    // Candidates are about integers; conditions on floats may hold or not.
    let conditions: Vec<Term> = conditions.into_iter().map(|c| abstraction.abstracted(&mut encoded.terms, c)).collect();
    match solve(&encoded.terms, &conditions, limits) {
        Answer::Unsat => BTreeSet::new(),
        Answer::Sat(model) => {
            let breaks = |(i, name, broken): &(usize, String, Term)| {
                let bit = encoded.terms.as_constant(*broken).or_else(|| model.symbol(name));
                (bit == Some(1)).then_some(*i)
            };
            let broken: BTreeSet<usize> = names.iter().filter_map(breaks).collect();
            // A model that violates no candidate would be a mistake of the solver; then nothing is proved.
            if broken.is_empty() { own } else { broken }
        }
        Answer::Unknown(_) => {
            // Check the candidates one by one, and drop those that are not proved.
            let rest = conditions.len() - names.len() - 1;
            let little = Limits { rlimit: limits.rlimit.min(SINGLE_CHECK_RLIMIT), ..*limits };
            let alone = |broken: Term| {
                let mut conditions = conditions[..rest].to_vec();
                conditions.push(broken);
                solve(&encoded.terms, &conditions, &little) != Answer::Unsat
            };
            names.iter().filter(|(_, _, broken)| alone(*broken)).map(|(i, _, _)| *i).collect()
        }
    }
}

struct CandidateBuilder<'e, 'p> {
    encoded: &'e mut Encoded<'p>,
    number: usize,
}

impl CandidateBuilder<'_, '_> {
    /// Makes a candidate: replaces the header's symbols by the values that each edge brings.
    fn build(&mut self, holds: Term) -> Candidate {
        let l = &self.encoded.loops[self.number];
        let edges = |pick: fn(&Phi) -> Vec<IncomingEdge>| {
            let mut all: Vec<(Term, HashMap<Term, Term>)> = Vec::new();
            for phi in &l.phis {
                for (i, (active, lanes)) in pick(phi).into_iter().enumerate() {
                    if all.len() <= i {
                        all.push((active, HashMap::new()));
                    }
                    all[i].1.extend(phi.symbols.iter().copied().zip(lanes));
                }
            }
            all
        };
        let (entries, back_edges) = (edges(|p| p.entries.clone()), edges(|p| p.back_edges.clone()));
        let terms = &mut self.encoded.terms;
        let mut substitute = |edges: Vec<(Term, HashMap<Term, Term>)>| -> Vec<(Term, Term)> {
            edges.into_iter().map(|(active, mut by)| (active, terms.replaced(holds, &mut by))).collect()
        };
        let (entries, back_edges) = (substitute(entries), substitute(back_edges));
        Candidate { number: self.number, holds, entries, back_edges }
    }

    /// Returns whether a term is composed only of values that exist before the loop.
    fn exists_before_loop(&self, term: Term) -> bool {
        let begin = self.encoded.loops[self.number].begin;
        let terms = &self.encoded.terms;
        let is_late = |t: &Term| match terms.node(*t) {
            Node::Symbol(_) | Node::Unknown(..) => t.rank() >= begin,
            _ => false,
        };
        !terms.parts(&[term]).iter().any(is_late)
    }

    fn candidates(&mut self) -> Vec<Term> {
        let mut found = Vec::new();
        let l = &self.encoded.loops[self.number];
        let phis: Vec<(Term, Vec<Term>, Vec<Term>)> = l
            .phis
            .iter()
            .filter(|p| p.symbols.len() == 1)
            .map(|p| {
                let lane = |all: &[(Term, Vec<Term>)]| all.iter().map(|(_, lanes)| lanes[0]).collect();
                (p.symbols[0], lane(&p.entries), lane(&p.back_edges))
            })
            .collect();
        let mut compared = l.compared.clone();
        compared.sort_unstable();
        compared.dedup();
        for (symbol, entry_values, next_values) in &phis {
            let mut own = self.unary_candidates(*symbol, entry_values, next_values, &compared);
            own.sort_unstable();
            own.dedup();
            own.retain(|g| self.encoded.terms.as_constant(*g).is_none());
            own.truncate(MAX_CANDIDATES);
            found.extend(own);
        }
        for (i, one) in phis.iter().take(MAX_COMPARED_VARIABLES).enumerate() {
            for other in phis.iter().take(MAX_COMPARED_VARIABLES).skip(i + 1) {
                found.extend(self.pair_candidates(one, other));
            }
        }
        found.retain(|g| self.encoded.terms.as_constant(*g).is_none());
        found
    }

    fn compare(&mut self, operation: Operation, l: Term, r: Term) -> Term {
        self.encoded.terms.compare(operation, l, r)
    }

    fn number(&mut self, bits: u64, like: Term) -> Term {
        let sort = self.encoded.terms.sort(like);
        self.encoded.terms.constant(bits, sort)
    }

    fn unary_candidates(
        &mut self,
        symbol: Term,
        entry_values: &[Term],
        next_values: &[Term],
        compared: &[(Term, Term)],
    ) -> Vec<Term> {
        use Operation::{And, Eq, Sle, Slt, Sub, ToBits, URem, Ule};
        let mut found = Vec::new();
        // A state variable: it only takes one of a few constants.
        if let Some(leaves) = self.constants(symbol, entry_values, next_values) {
            let bits_of = |m: &mut Self, t: Term| match m.encoded.terms.sort(t) {
                Sort::Float(width) => m.encoded.terms.apply(ToBits, vec![t], Sort::Bits(width)),
                _ => t,
            };
            let own = bits_of(self, symbol);
            let mut any = self.encoded.terms.truth(false);
            for leaf in leaves {
                let bits = self.encoded.terms.as_constant(leaf).unwrap_or(0);
                let number = self.number(bits, own);
                let is = self.compare(Eq, own, number);
                any = self.encoded.terms.or(any, is);
            }
            found.push(any);
        }
        let Sort::Bits(width) = self.encoded.terms.sort(symbol) else { return found };
        if width == 1 {
            return found;
        }
        let start = match entry_values {
            [only] if self.exists_before_loop(*only) => Some(*only),
            _ => None,
        };
        let zero = self.number(0, symbol);
        found.push(self.compare(Sle, zero, symbol));
        found.push(self.compare(Slt, zero, symbol));
        if let Some(start) = start {
            for (l, r) in [(start, symbol), (symbol, start)] {
                found.push(self.compare(Sle, l, r));
                found.push(self.compare(Ule, l, r));
            }
            found.push(self.compare(Eq, symbol, start));
            if let Some(step) = self.step(symbol, next_values) {
                let low = 1u64 << step.trailing_zeros();
                if low > 1 {
                    let mask = self.number(low - 1, symbol);
                    let sort = Sort::Bits(width);
                    let masked = |m: &mut Self, t| m.encoded.terms.apply(And, vec![t, mask], sort);
                    let (own, its) = (masked(self, symbol), masked(self, start));
                    found.push(self.compare(Eq, own, its));
                }
                if !step.is_power_of_two() {
                    let sort = Sort::Bits(width);
                    let by = self.number(step, symbol);
                    let distance = self.encoded.terms.apply(Sub, vec![symbol, start], sort);
                    let rest = self.encoded.terms.apply(URem, vec![distance, by], sort);
                    found.push(self.compare(Eq, rest, zero));
                }
            }
        }
        // A power of two or 0, for strides that are halved or doubled.
        let (one, sort) = (self.number(1, symbol), Sort::Bits(width));
        if self.is_scaled(symbol, next_values) {
            let less = self.encoded.terms.apply(Sub, vec![symbol, one], sort);
            let common = self.encoded.terms.apply(And, vec![symbol, less], sort);
            found.push(self.compare(Eq, common, zero));
        }
        for (shown, bound) in self.bounds(symbol, compared) {
            let mut both = vec![(shown, bound), (bound, shown)];
            if let Some(one) = self.incremented(bound) {
                both.push((shown, one));
            }
            for (l, r) in both {
                for operation in [Sle, Ule] {
                    let within = self.compare(operation, l, r);
                    found.push(within);
                    // If the loop body is never executed, the variable keeps its initial value.
                    if let Some(start) = start {
                        let is_start = self.compare(Eq, symbol, start);
                        found.push(self.encoded.terms.or(within, is_start));
                    }
                }
            }
        }
        found
    }

    /// Returns the bound plus one if it is a constant.
    fn incremented(&mut self, bound: Term) -> Option<Term> {
        let bits = self.encoded.terms.as_constant(bound)?;
        Some(self.number(bits.wrapping_add(1), bound))
    }

    /// Returns the constants that a variable is set to, if it is set to nothing else.
    fn constants(&self, symbol: Term, entry_values: &[Term], next_values: &[Term]) -> Option<BTreeSet<Term>> {
        let terms = &self.encoded.terms;
        let (mut leaves, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut todo: Vec<Term> = entry_values.iter().chain(next_values).copied().collect();
        while let Some(term) = todo.pop() {
            if term == symbol || !seen.insert(term) {
                continue;
            }
            match terms.node(term) {
                Node::Constant(_) => {
                    leaves.insert(term);
                }
                Node::Apply(Operation::Select, args) => todo.extend(&args[1..]),
                _ => return None,
            }
            if leaves.len() > 24 {
                return None;
            }
        }
        Some(leaves)
    }

    /// Returns the values that selects on the back edges choose from.
    fn leaves(&self, next_values: &[Term]) -> Vec<Term> {
        let (mut leaves, mut todo) = (Vec::new(), next_values.to_vec());
        while let Some(term) = todo.pop() {
            match self.encoded.terms.node(term) {
                Node::Apply(Operation::Select, args) if leaves.len() + todo.len() < 64 => todo.extend(&args[1..]),
                _ => leaves.push(term),
            }
        }
        leaves
    }

    /// Returns the greatest constant that divides every change of the variable.
    fn step(&self, symbol: Term, next_values: &[Term]) -> Option<u64> {
        let terms = &self.encoded.terms;
        let mut step = 0u64;
        for leaf in self.leaves(next_values) {
            if leaf == symbol {
                continue;
            }
            let Node::Apply(Operation::Add, args) = terms.node(leaf) else { return None };
            let (true, Some(by)) = (args[0] == symbol, terms.as_constant(args[1])) else { return None };
            let Sort::Bits(width) = terms.sort(symbol) else { return None };
            let (mut a, mut b) = (step, crate::program::signed(by, width).unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            step = a;
        }
        (step > 0).then_some(step)
    }

    fn is_scaled(&self, symbol: Term, next_values: &[Term]) -> bool {
        use Operation::{AShr, LShr, Mul, SDiv, Shl, UDiv};
        self.leaves(next_values).iter().any(|leaf| match self.encoded.terms.node(*leaf) {
            Node::Apply(AShr | LShr | Shl | Mul | SDiv | UDiv, args) => args[0] == symbol,
            _ => false,
        })
    }

    /// Finds bounds of a variable: terms that exist before the loop and that the loop compares the variable with.
    /// Returns the variable in the form in which it is compared, and the bound.
    fn bounds(&mut self, symbol: Term, compared: &[(Term, Term)]) -> Vec<(Term, Term)> {
        let mut found = Vec::new();
        for (left, right) in compared {
            for (variable, bound) in [(*left, *right), (*right, *left)] {
                if let Some(form) = self.form(symbol, variable)
                    && self.exists_before_loop(bound)
                {
                    found.push((form, bound));
                }
            }
        }
        found.truncate(8);
        found
    }

    /// Returns the variable in the form in which it occurs in a term: with extensions, without constants that
    /// are added.
    fn form(&mut self, symbol: Term, term: Term) -> Option<Term> {
        use Operation::{Add, SExt, ZExt};
        if term == symbol {
            return Some(symbol);
        }
        let sort = self.encoded.terms.sort(term);
        let Node::Apply(operation, args) = self.encoded.terms.node(term) else { return None };
        let (operation, inner) = (*operation, args[0]);
        match operation {
            Add if self.encoded.terms.as_constant(args[1]).is_some() => self.form(symbol, inner),
            SExt | ZExt => {
                let form = self.form(symbol, inner)?;
                Some(self.encoded.terms.apply(operation, vec![form], sort))
            }
            _ => None,
        }
    }

    fn pair_candidates(
        &mut self,
        one: &(Term, Vec<Term>, Vec<Term>),
        other: &(Term, Vec<Term>, Vec<Term>),
    ) -> Vec<Term> {
        use Operation::{Add, Eq, Sle, Sub, Ule};
        let (a, b) = (one.0, other.0);
        let sort = self.encoded.terms.sort(a);
        let is_int = matches!(sort, Sort::Bits(2..));
        if sort != self.encoded.terms.sort(b) || !is_int {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (l, r) in [(a, b), (b, a)] {
            found.push(self.compare(Sle, l, r));
            found.push(self.compare(Ule, l, r));
        }
        if let ([x], [y]) = (&one.1[..], &other.1[..])
            && self.exists_before_loop(*x)
            && self.exists_before_loop(*y)
        {
            for operation in [Add, Sub] {
                let terms = &mut self.encoded.terms;
                let (now, first) =
                    (terms.apply(operation, vec![a, b], sort), terms.apply(operation, vec![*x, *y], sort));
                found.push(self.compare(Eq, now, first));
            }
        }
        found
    }
}
