//! Local search: starts from the values of a launch that satisfies all conditions but one. It serves conditions on
//! floats, and those that are too hard for the solver. Variables are changed one at a time as long as the branch
//! distance decreases.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use kassay_ir::kernel::floats;

use crate::solve::evaluation::evaluate;
use crate::solve::expression::{Node, Operation, Sort, Term, Terms};
use crate::solve::query::Model;

/// Limit on the operations computed in one search.
const MAX_OPERATIONS: u64 = 4_000_000;
/// Limit on the evaluations of one search.
const MAX_EVALUATIONS: u64 = 6_000;
/// Floats to restart from.
const RESTARTS: [f64; 5] = [0.0, 1.0, -1.0, 2.0, 0.25];
/// Largest amount of float arithmetic that the solver is asked about; see [`effort`].
pub const SOLVABLE: u32 = 60;
/// Depth to which conditions are decomposed.
const MAX_DEPTH: u32 = 48;

/// Values of symbols, and of functions at offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    pub symbols: BTreeMap<String, u64>,
    pub cells: BTreeMap<String, BTreeMap<u64, u64>>,
}

impl Values {
    /// Takes the values from the solver's model.
    pub fn of(model: &Model) -> Values {
        let symbols = model.symbols().map(|(name, bits)| (name.to_owned(), bits)).collect();
        let cell = |(at, bits): (Vec<u64>, u64)| Some((*at.first()?, bits));
        let cells =
            model.functions().map(|f| (f.to_owned(), model.applications(f).into_iter().filter_map(cell).collect()));
        Values { symbols, cells: cells.collect() }
    }
}

/// A variable of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variable {
    /// By its step.
    Symbol(usize),
    /// By the function's number and the offset.
    Cell(usize, u64),
}

enum Step {
    Constant(u64),
    Symbol,
    Cell(usize, usize),
    Apply(Operation, Vec<usize>, Vec<Sort>),
}

struct HillClimb<'t> {
    steps: Vec<Step>,
    sorts: Vec<Sort>,
    goals: Vec<usize>,
    functions: Vec<&'t str>,
    names: BTreeMap<usize, &'t str>,
    start: &'t dyn Fn(&str, Option<u64>) -> u64,
    chosen: BTreeMap<Variable, u64>,
    values: Vec<u64>,
    /// Variables that the last evaluation read, with their width, and whether they are used as floats.
    read: BTreeMap<Variable, (u32, bool)>,
    /// Steps whose value is used as a float.
    floats: BTreeSet<usize>,
    /// Remaining evaluations; 0 once the time is up.
    left: u64,
    end: Option<Instant>,
}

/// Estimates how hard float arithmetic makes conditions for a solver, which decomposes operations into bits; 0
/// without floats.
pub fn effort(terms: &Terms, conditions: &[Term]) -> u32 {
    use Operation::*;
    let of = |term: Term| {
        let Sort::Float(width) = terms.sort(term) else { return 0 };
        let Node::Apply(operation, _) = terms.node(term) else { return 1 };
        let size = width / 16;
        match operation {
            FAdd | FSub | UIToF | SIToF | FToF | FRound(_) => size,
            FMul => 2 * size,
            FDiv | FFma => 5 * size,
            FSqrt | FRem => 10 * size,
            _ => 1,
        }
    };
    reachable(terms, conditions).into_iter().map(of).sum()
}

fn reachable(terms: &Terms, roots: &[Term]) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    let mut todo = roots.to_vec();
    while let Some(term) = todo.pop() {
        if found.insert(term)
            && let Node::Apply(_, args) | Node::Unknown(_, args) = terms.node(term)
        {
            todo.extend(args);
        }
    }
    found
}

/// Searches for values that satisfy all conditions, until `end`. `start` returns the initial value of a symbol, or of a
/// function at an offset.
pub fn climb(
    terms: &Terms,
    conditions: &[Term],
    start: &dyn Fn(&str, Option<u64>) -> u64,
    end: Option<Instant>,
) -> Option<Values> {
    let mut climb = HillClimb {
        steps: Vec::new(),
        sorts: Vec::new(),
        goals: Vec::new(),
        functions: Vec::new(),
        names: BTreeMap::new(),
        start,
        chosen: BTreeMap::new(),
        values: Vec::new(),
        read: BTreeMap::new(),
        floats: BTreeSet::new(),
        left: 0,
        end,
    };
    // Operands precede the terms that use them.
    let mut places: BTreeMap<Term, usize> = BTreeMap::new();
    let mut dictionary: BTreeSet<(u32, u64)> = BTreeSet::new();
    for term in reachable(terms, conditions) {
        let sort = terms.sort(term);
        let step = match terms.node(term) {
            Node::Constant(bits) => {
                if let Sort::Bits(width) | Sort::Float(width) = sort {
                    dictionary.insert((width, *bits));
                }
                Step::Constant(*bits)
            }
            Node::Symbol(name) => {
                climb.names.insert(climb.steps.len(), name);
                Step::Symbol
            }
            Node::Unknown(name, args) => {
                let known = climb.functions.iter().position(|f| f == name);
                let function = known.unwrap_or(climb.functions.len());
                if known.is_none() {
                    climb.functions.push(name);
                }
                Step::Cell(function, places[args.first()?])
            }
            Node::Apply(operation, args) => {
                let from = args.iter().map(|a| terms.sort(*a)).collect();
                let args: Vec<usize> = args.iter().map(|a| places[a]).collect();
                if *operation == Operation::FromBits {
                    climb.floats.insert(args[0]);
                }
                Step::Apply(*operation, args, from)
            }
        };
        places.insert(term, climb.steps.len());
        climb.steps.push(step);
        climb.sorts.push(sort);
    }
    climb.goals = conditions.iter().map(|c| places[c]).collect();
    climb.values = vec![0; climb.steps.len()];
    climb.left = (MAX_OPERATIONS / climb.steps.len().max(1) as u64).min(MAX_EVALUATIONS);
    climb.run(&dictionary)
}

fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Maps floats to integers of the same order.
fn ordered(bits: u64, width: u32) -> i64 {
    let sign = 1u64 << (width - 1);
    let magnitude = (bits & (sign - 1)).cast_signed();
    if bits & sign == 0 { magnitude } else { -magnitude }
}

fn from_ordered(place: i64, width: u32) -> u64 {
    let sign = 1u64 << (width - 1);
    let magnitude = place.unsigned_abs() & (sign - 1);
    if place < 0 { magnitude | sign } else { magnitude }
}

fn moved(bits: u64, width: u32, is_float: bool, by: i64) -> u64 {
    if is_float {
        // Not beyond the infinities.
        let most = ordered(floats::bits(f64::INFINITY, width), width);
        from_ordered(ordered(bits, width).saturating_add(by).clamp(-most, most), width)
    } else {
        bits.wrapping_add(by.cast_unsigned()) & mask(width)
    }
}

impl HillClimb<'_> {
    fn run(&mut self, dictionary: &BTreeSet<(u32, u64)>) -> Option<Values> {
        let mut best = self.cost();
        let mut shift = 0;
        while best > 0.0 && self.left > 0 {
            let before = best;
            for (variable, (width, is_float)) in self.read.clone() {
                best = self.improve(variable, width, is_float, best, dictionary);
                if best == 0.0 || self.left == 0 {
                    break;
                }
            }
            if best >= before {
                self.escape(shift)?;
                best = self.cost();
                shift += 1;
            }
        }
        (best == 0.0).then(|| self.solution())
    }

    /// Leaves a local optimum, differently on each turn: first sets all floats to a plain value, then changes
    /// one variable.
    fn escape(&mut self, turn: usize) -> Option<()> {
        let all: Vec<(Variable, (u32, bool))> = self.read.iter().map(|(v, w)| (*v, *w)).collect();
        let floats = all.iter().filter(|(_, (_, is_float))| *is_float);
        if let Some(plain) = RESTARTS.get(turn).filter(|_| floats.clone().count() > 0) {
            for (variable, (width, _)) in floats {
                self.set(*variable, floats::bits(*plain, *width));
            }
            return Some(());
        }
        let (variable, (width, is_float)) = *all.get(turn % all.len().max(1))?;
        let by = 1i64 << (7 * turn % 23).min(width as usize - 1);
        self.set(variable, moved(self.get(variable), width, is_float, by));
        Some(())
    }

    fn get(&self, variable: Variable) -> u64 {
        if let Some(bits) = self.chosen.get(&variable) {
            return *bits;
        }
        match variable {
            Variable::Symbol(step) => (self.start)(self.names[&step], None),
            Variable::Cell(function, at) => (self.start)(self.functions[function], Some(at)),
        }
    }

    fn set(&mut self, variable: Variable, bits: u64) {
        self.chosen.insert(variable, bits);
    }

    /// Tries other values of a variable and keeps the best; returns its cost.
    fn improve(
        &mut self,
        variable: Variable,
        width: u32,
        is_float: bool,
        mut best: f64,
        dictionary: &BTreeSet<(u32, u64)>,
    ) -> f64 {
        let mut kept = self.get(variable);
        let attempt = |climb: &mut Self, bits: u64, best: &mut f64, kept: &mut u64| {
            if climb.left == 0 || bits == *kept {
                return false;
            }
            climb.set(variable, bits);
            let cost = climb.cost();
            let better = cost < *best;
            if better {
                (*best, *kept) = (cost, bits);
            }
            better
        };
        // The effect of a small step may be invisible, so larger ones are tried too.
        for power in [0, 4, 10, 16, 22, 28, 40, 52].into_iter().filter(|p| p + 1 < width) {
            for sign in [1, -1] {
                let mut by = i64::from(sign) << power;
                while attempt(self, moved(kept, width, is_float, by), &mut best, &mut kept) && best > 0.0 {
                    by = by.saturating_mul(2);
                }
            }
        }
        if best > 0.0 {
            let constants: Vec<u64> = dictionary.iter().filter(|(w, _)| *w == width).map(|(_, bits)| *bits).collect();
            for bits in constants {
                for by in [0, 1, -1] {
                    attempt(self, moved(bits, width, is_float, by), &mut best, &mut kept);
                }
            }
            if is_float {
                for x in [0.0, 1.0, -1.0, 0.5, 2.0, 1000.0, f64::INFINITY, f64::NAN] {
                    attempt(self, floats::bits(x, width), &mut best, &mut kept);
                }
            }
        }
        self.set(variable, kept);
        self.evaluate();
        best
    }

    fn evaluate(&mut self) {
        self.read.clear();
        for i in 0..self.steps.len() {
            let width = match self.sorts[i] {
                Sort::Bits(width) | Sort::Float(width) => width,
                Sort::Other => 64,
            };
            self.values[i] = match &self.steps[i] {
                Step::Constant(bits) => *bits,
                Step::Symbol => {
                    self.read.insert(Variable::Symbol(i), (width, self.floats.contains(&i)));
                    self.get(Variable::Symbol(i)) & mask(width)
                }
                Step::Cell(function, index) => {
                    let variable = Variable::Cell(*function, self.values[*index]);
                    self.read.insert(variable, (width, self.floats.contains(&i)));
                    self.get(variable) & mask(width)
                }
                Step::Apply(operation, args, from) => {
                    let mut values = [0; 3];
                    for (to, arg) in values.iter_mut().zip(args) {
                        *to = self.values[*arg];
                    }
                    evaluate(*operation, &values[..args.len().min(3)], from, self.sorts[i])
                }
            };
        }
    }

    /// Sum of the branch distances of all conditions; 0 if they hold.
    fn cost(&mut self) -> f64 {
        self.left = self.left.saturating_sub(1);
        // An evaluation takes at least microseconds, so the cost of reading the clock is negligible.
        if self.end.is_some_and(|end| Instant::now() >= end) {
            self.left = 0;
        }
        self.evaluate();
        self.goals.iter().map(|goal| self.branch_distance(*goal, true, MAX_DEPTH)).sum()
    }

    /// Branch distance of a bit from a truth value, from 0 to 1.
    fn branch_distance(&self, step: usize, wanted: bool, depth: u32) -> f64 {
        use Operation::*;
        if (self.values[step] & 1 == 1) == wanted {
            return 0.0;
        }
        let Step::Apply(operation, args, from) = &self.steps[step] else { return 1.0 };
        let value = |i: usize| self.values[args[i]];
        if depth == 0 {
            return 1.0;
        }
        let is_bit = |i: usize| from.get(i) == Some(&Sort::Bits(1));
        let of = |i: usize, wanted| self.branch_distance(args[i], wanted, depth - 1);
        match (operation, from[0]) {
            (And | Or, Sort::Bits(1)) if (*operation == And) == wanted => (of(0, wanted) + of(1, wanted)) / 2.0,
            (And | Or, Sort::Bits(1)) => of(0, wanted).min(of(1, wanted)),
            (Xor, Sort::Bits(1)) => of(0, wanted != (value(1) == 1)).min(of(1, wanted != (value(0) == 1))),
            (Eq, Sort::Bits(1)) => of(0, wanted == (value(1) == 1)).min(of(1, wanted == (value(0) == 1))),
            (Select, _) if is_bit(1) => of(if value(0) & 1 == 1 { 1 } else { 2 }, wanted),
            (Eq | Ult | Ule | Slt | Sle, Sort::Bits(width)) => {
                let number = |i: usize| match operation {
                    Slt | Sle => i128::from((value(i) << (64 - width)).cast_signed() >> (64 - width)),
                    _ => i128::from(value(i)),
                };
                normalised((number(0) - number(1)).unsigned_abs() as f64)
            }
            (FEq | FLt | FLe, Sort::Float(width)) => {
                if (0..2).any(|i| floats::number(value(i), width).is_nan()) {
                    return 1.0;
                }
                let between = (floats::number(value(0), width) - floats::number(value(1), width)).abs();
                let places = i128::from(ordered(value(0), width)) - i128::from(ordered(value(1), width));
                normalised_float(between, places.unsigned_abs() as f64)
            }
            _ => 1.0,
        }
    }

    fn solution(&self) -> Values {
        let mut values = Values::default();
        for variable in self.read.keys() {
            let bits = self.get(*variable);
            match *variable {
                Variable::Symbol(step) => {
                    values.symbols.insert(self.names[&step].to_owned(), bits);
                }
                Variable::Cell(function, at) => {
                    values.cells.entry(self.functions[function].to_owned()).or_default().insert(at, bits);
                }
            }
        }
        values
    }
}

/// Normalises a difference to less than 1. It is positive even for equal operands, for conditions that require them
/// to differ.
fn normalised(difference: f64) -> f64 {
    (2.0 + difference).log2() / 66.0
}

/// Same for floats: by the difference, which resolves the smallest steps, or by the number of floats between them where
/// the difference is large.
fn normalised_float(difference: f64, places: f64) -> f64 {
    const LARGE: f64 = 1e6;
    if difference < LARGE {
        (difference / (1.0 + difference)).max(f64::MIN_POSITIVE) / 2.0
    } else {
        0.5 + normalised(places) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_floats_is_found() {
        let mut terms = Terms::default();
        let float = Sort::Float(32);
        let bits = terms.symbol("x", Sort::Bits(32));
        let x = terms.apply(Operation::FromBits, vec![bits], float);
        let square = terms.apply(Operation::FMul, vec![x, x], float);
        let constant = |terms: &mut Terms, x: f32| terms.constant(x.to_bits().into(), float);
        let (low, high) = (constant(&mut terms, 1234.5), constant(&mut terms, 1234.6));
        let conditions = [terms.compare(Operation::FLt, low, square), terms.compare(Operation::FLt, square, high)];
        assert!((1..SOLVABLE).contains(&effort(&terms, &conditions)));
        let found = climb(&terms, &conditions, &|_, _| 0, None).expect("values");
        let x = f32::from_bits(found.symbols["x"] as u32);
        assert!(x * x > 1234.5 && x * x < 1234.6, "{x}");
    }

    #[test]
    fn cells_are_distinguished_by_offset() {
        let mut terms = Terms::default();
        let wide = Sort::Bits(64);
        let i = terms.symbol("i", wide);
        let cell = terms.unknown("a", vec![i], Sort::Bits(32));
        let (seven, three) = (terms.constant(7, wide), terms.constant(3_000_000, Sort::Bits(32)));
        let conditions = [terms.compare(Operation::Eq, i, seven), terms.compare(Operation::Ult, three, cell)];
        let found = climb(&terms, &conditions, &|_, at| at.unwrap_or(0), None).expect("values");
        assert_eq!(found.symbols["i"], 7);
        assert!(found.cells["a"][&7] > 3_000_000);
        let never = [terms.compare(Operation::Ult, i, i)];
        assert_eq!(climb(&terms, &never, &|_, _| 0, None), None);
    }
}
