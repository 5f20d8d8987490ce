//! How many elements the buffers of a kernel need: buffers have no length that a kernel knows, but what it accesses is
//! bounded by what a launch gives.
//!
//! Guesses of `greatest` are asked like bounds of arrays: all accesses, of one work-item of any launch, are within so
//! many bytes. Only what Z3 confirms is a length.

use std::collections::BTreeSet;
use std::time::Instant;

use kassay_ir::llvm::DebugLocation;
use kassay_model::condition::{Condition, Quantity};
use kassay_model::extent::Extent;
use kassay_model::interface::{ArgKind, Interface};

use super::accesses::{Access, Base, Unsupported};
use super::conditions;
use super::encode::{Context, Encoder, Occurrence};
use super::greatest::Greatest;
use super::invariants;
use super::kernel::Kernel;
use super::questions::Setting;
use super::scalars;
use super::scope::{Scope, Shape};
use super::segments::Cut;
use super::solver::{KnowingSolver, Outcome, Solving};
use crate::program::ids::{Id, id_of};
use crate::program::{Op, Program, Region};
use crate::solve::integers::{Fact, Integers, Polynomial};
use crate::solve::query::in_new_context;

/// Z3's work for one question.
const RLIMIT: u32 = 300_000;
/// Most guesses for one buffer.
const MAX_GUESSES: usize = 12;
/// Most accesses of one buffer times its guesses.
const MAX_FACTS: usize = 1_500;
/// Most extents of which the greatest is said.
const MOST_EXTENTS: usize = 3;

/// How much of a buffer a kernel may access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Length {
    /// The argument.
    pub position: u32,
    /// So many elements are enough: the greatest of these numbers.
    pub elements: Vec<Extent>,
    /// Whether they are bytes, as the buffer has no type that divides them.
    pub in_bytes: bool,
    /// What launches have to keep to.
    pub condition: Option<Condition>,
    /// Where results of operations have to fit their types; `None`: in code that has no lines.
    pub wrapping: BTreeSet<Option<DebugLocation>>,
}

/// Whether a kernel reads what depends on the global offset: lengths are those of launches that have none.
pub fn reads_offset(program: &Program) -> bool {
    // CUDA's grids have none.
    !program.skips_returned
        && program.instructions().any(|(_, i)| match &i.op {
            Op::Call(_, base) => matches!(id_of(base), Some(Id::Global | Id::Offset)),
            _ => false,
        })
}

/// Finds how many elements the buffers of a kernel need in launches without an offset; nothing of those for which none
/// of a few simple expressions is proved to be enough.
pub fn lengths(program: &Program, interface: &Interface, end: Option<Instant>) -> Vec<Length> {
    in_new_context(|| {
        let solving = Solving::until(end);
        let all = Kernel::of(program, interface).and_then(|kernel| of_kernel(&kernel, &solving));
        all.unwrap_or_default()
    })
}

fn of_kernel(kernel: &Kernel<'_>, solving: &Solving) -> Result<Vec<Length>, Unsupported> {
    let shape = Shape::default();
    let invariants = invariants::find(kernel, shape, solving)?;
    let setting = Setting { kernel, shape, invariants: &invariants, solving };
    let mut integers = Integers::default();
    let segment = (None, Cut::Never);
    let context = Context::new(kernel, shape, Scope::InterGroup, segment, &invariants, solving.end, &mut integers)?;
    for d in 0..3 {
        let none = integers.equal(context.launch.size(Id::Offset, d), &Polynomial::default());
        integers.assert(&none);
    }
    let encoder = Encoder::encode(&context, super::scope::Item::First, &mut integers)?;
    let accesses = encoder.accesses;
    let is_unknown = |a: &Occurrence<'_>| {
        a.texel.is_none() && a.places.iter().any(|place| place.base == Base::UNKNOWN && !place.when.is_false())
    };
    if accesses.iter().any(is_unknown) {
        return Ok(Vec::new());
    }
    let mut search = Search { context: &context, integers, greatest: Greatest::of(kernel), solving };
    let mut found = Vec::new();
    for arg in &kernel.interface.args {
        let element = match &arg.kind {
            ArgKind::Buffer { element, .. } | ArgKind::Local { element } => element.as_ref().map(|ty| ty.size()),
            _ => continue,
        };
        if kernel.is_by_value(arg.position) || solving.is_over() {
            continue;
        }
        found.extend(search.length(arg.position, element.filter(|bytes| *bytes > 0), &accesses));
    }
    // Conditions are few, and most lengths need none.
    let mut known: Vec<(Option<Condition>, BTreeSet<Option<DebugLocation>>)> = Vec::new();
    for length in &mut found {
        let wrapping = match known.iter().find(|(condition, _)| *condition == length.condition) {
            Some((_, wrapping)) => wrapping.clone(),
            None => {
                let wrapping = setting.wrapping(length.condition.as_ref())?;
                known.push((length.condition.clone(), wrapping.clone()));
                wrapping
            }
        };
        length.wrapping = wrapping;
    }
    Ok(found)
}

/// Searches for lengths.
struct Search<'a, 'k, 'p> {
    context: &'a Context<'k, 'p>,
    integers: Integers,
    greatest: Greatest<'k, 'p>,
    solving: &'a Solving,
}

/// What is assumed of a scalar.
#[derive(Clone)]
struct Assumed {
    symbol: u32,
    condition: Condition,
    fact: Fact,
}

/// By access: for each guess, when the access is not within it.
type Outside = Vec<Vec<Fact>>;

impl Search<'_, '_, '_> {
    fn length(&mut self, position: u32, element: Option<u64>, accesses: &[Occurrence<'_>]) -> Option<Length> {
        let region = Base::Object(Region::Argument(position));
        let own: Vec<&Occurrence<'_>> =
            accesses.iter().filter(|a| a.texel.is_none() && a.places.iter().any(|p| p.base == region)).collect();
        let mut ends: Vec<Polynomial> = Vec::new();
        for access in own.iter().map(|a| &a.access) {
            for end in self.guesses(access) {
                if !ends.contains(&end) && ends.len() < MAX_GUESSES {
                    ends.push(end);
                }
            }
        }
        let in_elements = element.and_then(|bytes| {
            let all: Option<Vec<Polynomial>> = ends.iter().map(|end| elements(end, bytes)).collect();
            Some((all?, bytes))
        });
        let in_bytes = in_elements.is_none();
        let (mut guesses, bytes) = in_elements.unwrap_or((ends, 1));
        // What the code says is narrower than what the launch has.
        let depends = |guess: &Polynomial| {
            let is_of_launch =
                |symbol: &u32| !matches!(self.greatest.quantities[*symbol as usize], Quantity::Scalar(_));
            guess.terms().any(|(monomial, _)| monomial.iter().any(is_of_launch))
        };
        guesses.sort_by_cached_key(|guess| (guess.as_constant().is_none(), depends(guess)));
        guesses.dedup();
        if own.is_empty() || guesses.is_empty() || own.len() * guesses.len() > MAX_FACTS {
            return None;
        }
        let forced = self.sensitive(&guesses);
        let mut values: Vec<(usize, Polynomial)> = Vec::new();
        for (i, guess) in guesses.iter().enumerate() {
            for value in self.values(guess, &forced)? {
                if !values.contains(&(i, value.clone())) {
                    values.push((i, value));
                }
            }
        }
        let mut outside: Outside = Vec::new();
        for access in &own {
            for place in access.places.iter().filter(|place| place.base == region) {
                let reach = access.reach.and(&place.when);
                let of_place = values.iter().map(|(_, value)| {
                    let integers = &mut self.integers;
                    let length = integers.multiply(value, &Polynomial::constant(i128::from(bytes)));
                    let end = integers.add(&place.offset, &Polynomial::constant(i128::from(access.bytes)));
                    let from = integers.at_most(&Polynomial::default(), &place.offset);
                    reach.and(&from.and(&integers.at_most(&end, &length)).negated())
                });
                outside.push(of_place.collect());
            }
        }
        let positive = [0, 1].map(|least| self.at_least(&guesses, least));
        let facts = self.integers.facts();
        let mut solver = self.solving.solver(&facts, RLIMIT);
        let holds = |kept: &[Assumed]| kept.iter().map(|assumed| assumed.fact.clone()).collect::<Vec<Fact>>();
        let mut assumed: Vec<Assumed> =
            positive[0].iter().filter(|assumed| forced.contains(&assumed.symbol)).cloned().collect();
        let mut enough = enough(&mut solver, &outside, &holds(&assumed));
        for tried in positive {
            if enough.is_some() || tried.is_empty() {
                continue;
            }
            enough = self::enough(&mut solver, &outside, &holds(&tried));
            if enough.is_none() {
                continue;
            }
            assumed = tried;
            for symbol in assumed.iter().map(|a| a.symbol).collect::<Vec<u32>>() {
                let fewer: Vec<Assumed> = assumed.iter().filter(|a| a.symbol != symbol).cloned().collect();
                let may_drop = !forced.contains(&symbol);
                if let Some(found) = may_drop.then(|| self::enough(&mut solver, &outside, &holds(&fewer))).flatten() {
                    (assumed, enough) = (fewer, Some(found));
                }
            }
        }
        let mut found: Vec<usize> = enough?.into_iter().map(|i| values[i].0).collect();
        found.dedup();
        let elements = found.into_iter().map(|i| self.extent(&guesses[i])).collect();
        let condition = (!assumed.is_empty()).then(|| Condition::all(assumed.into_iter().map(|a| a.condition)));
        Some(Length { position, elements, in_bytes, condition, wrapping: BTreeSet::new() })
    }

    fn guesses(&mut self, access: &Access) -> Vec<Polynomial> {
        self.greatest.end_of(access)
    }

    /// A guess as the integers of the encoding, in several forms of which each is at most what it is. Unsigned scalars
    /// are encoded as the signed numbers of their bits: in products with ids they have to be these, but what is
    /// compared with an id is the unsigned number.
    fn values(&mut self, guess: &Polynomial, forced: &BTreeSet<u32>) -> Option<Vec<Polynomial>> {
        let mut free: Vec<u32> = guess.terms().flat_map(|(monomial, _)| monomial.iter().copied()).collect();
        free.sort_unstable();
        free.dedup();
        free.retain(|symbol| !forced.contains(symbol) && self.is_unsigned(&self.greatest.quantities[*symbol as usize]));
        let all: BTreeSet<u32> = free.iter().copied().collect();
        let mut forms = vec![BTreeSet::new()];
        if !all.is_empty() {
            forms.push(all.clone());
        }
        if free.len() > 1 {
            forms.extend(free.iter().map(|signed| all.iter().copied().filter(|other| other != signed).collect()));
        }
        forms.iter().map(|unsigned| self.value(guess, unsigned)).collect()
    }

    fn value(&mut self, guess: &Polynomial, unsigned: &BTreeSet<u32>) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for (monomial, coefficient) in guess.terms() {
            let mut product = Polynomial::constant(coefficient);
            for symbol in monomial {
                let quantity = &self.greatest.quantities[*symbol as usize];
                let (kernel, launch) = (self.context.kernel, &self.context.launch);
                let value = match unsigned.contains(symbol) {
                    true => conditions::number(quantity, kernel, launch, &mut self.integers),
                    false => conditions::as_encoded(quantity, kernel, launch, &mut self.integers),
                }?;
                product = self.integers.multiply(&product, &value);
            }
            sum = self.integers.add(&sum, &product);
        }
        Some(sum)
    }

    /// Unsigned scalars of which it matters that they are encoded as the signed numbers of their bits. These are never
    /// greater in absolute value, so that sums are no greater either, unless something is taken away, or multiplied by
    /// what may be negative.
    fn sensitive(&self, guesses: &[Polynomial]) -> BTreeSet<u32> {
        let quantity = |symbol: &u32| &self.greatest.quantities[*symbol as usize];
        let is_signed =
            |symbol: &u32| matches!(quantity(symbol), Quantity::Scalar(_)) && !self.is_unsigned(quantity(symbol));
        let terms = guesses.iter().flat_map(Polynomial::terms);
        let meant = terms.filter(|(monomial, factor)| *factor < 0 || monomial.iter().any(is_signed));
        let symbols = meant.flat_map(|(monomial, _)| monomial.iter().copied());
        symbols.filter(|symbol| self.is_unsigned(quantity(symbol))).collect()
    }

    fn is_unsigned(&self, quantity: &Quantity) -> bool {
        matches!(quantity, Quantity::Scalar(s) if scalars::is_unsigned(self.context.kernel, s))
    }

    /// That the scalars of guesses are at least this number, and also fit signed types.
    fn at_least(&mut self, guesses: &[Polynomial], least: i64) -> Vec<Assumed> {
        let mut symbols: BTreeSet<u32> = BTreeSet::new();
        guesses.iter().flat_map(Polynomial::terms).for_each(|(monomial, _)| symbols.extend(monomial));
        let mut all = Vec::new();
        for symbol in symbols {
            let quantity = self.greatest.quantities[symbol as usize].clone();
            if !matches!(quantity, Quantity::Scalar(_)) {
                continue;
            }
            let positive = Condition::AtLeast(quantity.clone(), Quantity::Constant(least));
            let small = Condition::AtMost(quantity.clone(), Quantity::Constant(i64::from(i32::MAX)));
            let condition = match (self.is_unsigned(&quantity), least) {
                (true, 0) => small,
                (true, _) => Condition::all([positive, small]),
                (false, _) => positive,
            };
            let (kernel, launch) = (self.context.kernel, &self.context.launch);
            if let Some(fact) = conditions::fact(&condition, kernel, launch, &mut self.integers) {
                all.push(Assumed { symbol, condition, fact });
            }
        }
        all
    }

    fn extent(&self, guess: &Polynomial) -> Extent {
        let quantity = |symbol: &u32| self.greatest.quantities[*symbol as usize].clone();
        let term = |(monomial, factor): (&Vec<u32>, i128)| (factor, monomial.iter().map(quantity).collect());
        Extent { terms: guess.terms().map(term).collect() }
    }
}

/// The number of elements of so many bytes each; `None` if these are no number of elements.
fn elements(end: &Polynomial, bytes: u64) -> Option<Polynomial> {
    let bytes = i128::from(bytes);
    // What an access leaves of its last element counts.
    let constant = end.coefficient(&[]);
    let rest = end.plus(&Polynomial::constant(constant), -1)?.divided(bytes)?;
    let whole = constant.div_euclid(bytes) + i128::from(constant.rem_euclid(bytes) != 0);
    rest.plus(&Polynomial::constant(whole), 1)
}

/// Guesses of which the greatest is enough for all accesses: one, or a few.
fn enough(solver: &mut KnowingSolver, outside: &Outside, assumed: &[Fact]) -> Option<Vec<usize>> {
    let mut is_excluded = |fact: Fact| {
        let mut question = assumed.to_vec();
        question.push(fact);
        fact_is_false(&question) || solver.check(&question) == Outcome::Impossible
    };
    let count = outside.first().map_or(0, Vec::len);
    let one = (0..count).find(|guess| is_excluded(Fact::any(outside.iter().map(|of_place| of_place[*guess].clone()))));
    if let Some(one) = one {
        return Some(vec![one]);
    }
    let mut all: Vec<usize> = Vec::new();
    for of_place in outside {
        let is_known = all.iter().any(|guess| is_excluded(of_place[*guess].clone()));
        if !is_known {
            all.push((0..count).find(|guess| is_excluded(of_place[*guess].clone()))?);
        }
        if all.len() > MOST_EXTENTS {
            return None;
        }
    }
    Some(all)
}

fn fact_is_false(facts: &[Fact]) -> bool {
    facts.iter().any(Fact::is_false)
}
