//! Learns likely invariants from launches.
//!
//! A relation counts if it holds in all launches. If what it relates never varies, it may be an accident: then only
//! what launches usually have in common is taken, as a guess.

use std::collections::BTreeSet;

use kassay_model::interface::{ArgKind, Scalar};
use kassay_prove::program::Region;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout;

use super::{Formula, LikelyInvariant, LikelyInvariants, Quantity, Rule, integers};
use crate::generate::launch_builder::LaunchBuilder;
use crate::generate::model::{Contents, KernelModel, Role};

/// Multiples to which hosts round sizes up.
const ROUNDED_TO: [i128; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
/// Differences of sizes, such as the one more of row offsets.
const DIFFERENCES: [i128; 4] = [1, -1, 2, -2];
/// Least value for which a product, or the equality of two lengths, in a single launch is no likely accident.
const LEAST_TELLING: i128 = 16;
/// Most values of a number that is taken for a flag.
const MOST_VALUES: usize = 4;

/// Returns what all of `launches` have in common. `usual_items`: work-items that launches made with the likely
/// invariants may have, unless one of these has more.
pub fn learn(model: &KernelModel, launches: &[&Launch], usual_items: u64) -> LikelyInvariants {
    let max_items = launches.iter().map(|l| l.range.items()).fold(usual_items, u64::max);
    let needs_whole_groups = model.interface.uniform_groups;
    let Some(dims) = launches.iter().map(|l| l.range.dims).max() else {
        return LikelyInvariants { all: Vec::new(), max_items, needs_whole_groups };
    };
    let mut learner = Learner::new(model, launches, dims);
    learner.equations();
    learner.constants();
    learner.values();
    learner.whole_groups();
    learner.contents();
    let mut all = learner.found;
    all.retain(|c| launches.iter().all(|l| c.rule.holds(l)));
    // Constants first: numbers of work-groups, which other equations read, follow from them.
    all.sort_by_key(|c| !matches!(c.rule, Rule::Equation { formula: Formula::Number(_), .. }));
    LikelyInvariants { all, max_items, needs_whole_groups }
}

struct Learner<'a> {
    model: &'a KernelModel,
    launches: &'a [&'a Launch],
    quantities: Vec<Quantity>,
    /// Quantities that no equation defines.
    free: Vec<Quantity>,
    /// Those that equations may read: the free ones, and global sizes.
    readable: Vec<Quantity>,
    /// Quantities that equations read.
    read: Vec<Quantity>,
    /// Whether the launches differ in sizes or numbers.
    differ: bool,
    found: Vec<LikelyInvariant>,
}

impl<'a> Learner<'a> {
    fn new(model: &'a KernelModel, launches: &'a [&'a Launch], dims: u32) -> Learner<'a> {
        let quantities = Quantity::all(model, dims);
        let shape = |launch: &&Launch| {
            let numbers: Vec<Option<i128>> = quantities.iter().map(|q| q.get(launch)).collect();
            let by_value = launch.args.iter().filter(|a| matches!(a, ArgValue::Value(_)));
            (numbers, by_value.cloned().collect::<Vec<_>>())
        };
        let differ = launches.windows(2).any(|two| shape(&two[0]) != shape(&two[1]));
        Learner {
            model,
            launches,
            quantities,
            free: Vec::new(),
            readable: Vec::new(),
            read: Vec::new(),
            differ,
            found: Vec::new(),
        }
    }

    /// Returns the values of a quantity in the launches that have it.
    fn values_of(&self, of: Quantity) -> Vec<i128> {
        self.launches.iter().filter_map(|l| of.get(l)).collect()
    }

    fn varies(&self, of: Quantity) -> bool {
        self.values_of(of).windows(2).any(|two| two[0] != two[1])
    }

    fn add(&mut self, rule: Rule, is_guess: bool, launches: usize) {
        self.found.push(LikelyInvariant { rule, is_guess, launches: launches as u64 });
    }

    /// Expresses each quantity, in order, by those before it that are free.
    fn equations(&mut self) {
        for target in self.quantities.clone() {
            if self.values_of(target).is_empty() {
                continue;
            }
            let is_source = matches!(target, Quantity::Side { .. } | Quantity::Groups(_));
            match (!is_source).then(|| self.formula(target)).flatten() {
                Some((formula, is_guess, launches)) => {
                    self.read.extend(formula.reads());
                    self.add(Rule::Equation { target, formula }, is_guess, launches);
                    // Lengths follow from the global size itself where hosts round it up.
                    if matches!(target, Quantity::Global(_)) {
                        self.readable.push(target);
                    }
                }
                None => {
                    self.free.push(target);
                    self.readable.push(target);
                }
            }
        }
    }

    /// Returns in how many launches a formula gives the target, and whether its value varies among them; `None` if
    /// it gives another value anywhere.
    fn evidence(&self, target: Quantity, formula: &Formula) -> Option<(usize, BTreeSet<i128>)> {
        let (mut launches, mut values) = (0, BTreeSet::new());
        for launch in self.launches {
            let is_open = formula.reads().iter().any(|q| q.get(launch).is_none());
            let Some(value) = target.get(launch).filter(|_| !is_open) else { continue };
            if formula.value(launch) != Some(value) {
                return None;
            }
            launches += 1;
            values.insert(value);
        }
        (launches > 0).then_some((launches, values))
    }

    /// Returns the simplest formula for a quantity, with whether it is a guess and how many launches show it.
    fn formula(&self, target: Quantity) -> Option<(Formula, bool, usize)> {
        // A formula that reads what varies is not constant by accident, one that does not vary may be.
        let tell = |formula: Formula| {
            let (launches, values) = self.evidence(target, &formula)?;
            let is_guess = values.len() < 2;
            let value = values.first().copied().unwrap_or(0);
            let counts = match is_guess {
                true => self.may_be_guessed(target, &formula, value),
                false => values.len() >= self.needed(target, &formula),
            };
            counts.then_some((formula, is_guess, launches))
        };
        self.candidates(target).into_iter().find_map(tell)
    }

    /// Returns how many different values must fit a formula for it to count.
    fn needed(&self, target: Quantity, formula: &Formula) -> usize {
        let is_scalar = |q: &Quantity| matches!(q, Quantity::Scalar { .. });
        let is_equality = matches!(formula, Formula::Plus { plus: 0, .. });
        // Numbers by value are small and many: some fit by accident.
        if !is_equality && is_scalar(&target) && formula.reads().iter().any(is_scalar) { 3 } else { 2 }
    }

    /// Returns whether an equation that no variation supports is a likely one.
    fn may_be_guessed(&self, target: Quantity, formula: &Formula, value: i128) -> bool {
        use Quantity::{Global, Length, Scalar, Side};
        match (target, formula) {
            (Scalar { .. }, Formula::Plus { of: Side { .. }, plus: 0 })
            | (Global(_), Formula::Plus { of: Scalar { .. } | Side { .. }, plus: 0 })
            | (Length { .. }, Formula::Plus { of: Scalar { .. } | Global(_), plus: 0 }) => value > 1,
            (Length { arg, .. }, Formula::Plus { of: Scalar { .. } | Global(_), plus: 1 }) => {
                value > 2 && self.model.args[arg as usize].contents == Contents::Offsets
            }
            (Length { .. }, Formula::Plus { of: Length { .. }, plus: 0 }) => value >= LEAST_TELLING,
            (Length { .. }, Formula::Times { factors, by: 1 }) => {
                let is_plain = |q: &Quantity| matches!(q, Scalar { .. } | Side { .. } | Global(_));
                let is_one = |q: &Quantity| self.values_of(*q).contains(&1);
                value >= LEAST_TELLING && factors.iter().all(|f| is_plain(f) && !is_one(f))
            }
            _ => false,
        }
    }

    /// Returns formulas for a quantity, the likeliest first.
    fn candidates(&self, target: Quantity) -> Vec<Formula> {
        let is_of_range = |q: &Quantity| matches!(q, Quantity::Global(_) | Quantity::Local(_));
        let mut free: Vec<Quantity> = self.readable.iter().copied().filter(|q| self.may_read(target, *q)).collect();
        if is_of_range(&target) {
            // Where width and height are alike, each dimension has its own.
            let taken = |of: &Quantity| {
                let reads = |c: &&LikelyInvariant| match &c.rule {
                    Rule::Equation { target: other, formula } => {
                        std::mem::discriminant(other) == std::mem::discriminant(&target) && formula.reads().contains(of)
                    }
                    _ => false,
                };
                self.found.iter().filter(reads).count()
            };
            free.sort_by_key(taken);
        }
        // The numbers before lengths: `n` says more than that two buffers have the same length.
        let mut all: Vec<Formula> = free.iter().map(|of| Formula::Plus { of: *of, plus: 0 }).collect();
        if let Quantity::Global(d) = target {
            all.extend(free.iter().map(|of| Formula::RoundedUp { of: *of, to: Quantity::Local(d) }));
            for to in ROUNDED_TO.iter().rev() {
                all.extend(free.iter().map(|of| Formula::RoundedUpTo { of: *of, to: *to }));
            }
        }
        for plus in DIFFERENCES {
            all.extend(free.iter().map(|of| Formula::Plus { of: *of, plus }));
        }
        let is_factor = |q: &&Quantity| self.values_of(**q).iter().any(|n| *n != 1);
        let factors: Vec<Quantity> = free.iter().filter(is_factor).copied().collect();
        let product = |first: &Quantity, second: &Quantity| Formula::Times { factors: vec![*first, *second], by: 1 };
        for (i, first) in factors.iter().enumerate() {
            all.extend(factors[i + 1..].iter().map(|second| product(first, second)));
        }
        all.extend(factors.iter().map(|factor| product(factor, factor)));
        let value = self.launches.iter().find_map(|l| Some((target.get(l)?, *l)));
        if let Some((value, launch)) = value {
            for of in &free {
                let Some(n) = of.get(launch).filter(|n| *n > 0 && value > 0) else { continue };
                if value > n && value % n == 0 {
                    all.push(Formula::Times { factors: vec![*of], by: value / n });
                }
                all.extend(
                    [n / value, n / value + 1].into_iter().filter(|by| *by > 1).map(|by| Formula::Part { of: *of, by }),
                );
            }
        }
        if matches!(target, Quantity::Length { .. }) {
            let telling: Vec<Quantity> = factors.iter().copied().take(12).collect();
            for (i, first) in telling.iter().enumerate() {
                for (k, second) in telling.iter().enumerate().skip(i) {
                    all.extend(telling[k..].iter().map(|third| {
                        let factors = vec![*first, *second, *third];
                        Formula::Times { factors, by: 1 }
                    }));
                }
            }
        }
        all
    }

    /// Returns whether equations may define the one by the other: what a host computes from what.
    fn may_read(&self, target: Quantity, of: Quantity) -> bool {
        match (target, of) {
            // Numbers that only take part in comparisons, or in results, are no sizes.
            (
                Quantity::Global(_) | Quantity::Local(_) | Quantity::Length { .. },
                Quantity::Scalar { arg, offset, .. },
            ) => {
                let known = self.model.scalars.iter().find(|s| s.arg == arg && s.offset == offset);
                known.is_none_or(|s| !matches!(s.role, Role::Shift)) && self.values_of(of).iter().all(|n| *n >= 0)
            }
            _ => true,
        }
    }

    /// Numbers by value, work-group sizes and lengths that stay the same while others change.
    fn constants(&mut self) {
        if !self.differ {
            return;
        }
        let launches = self.launches.len();
        let is_size = |q: &Quantity| matches!(q, Quantity::Global(_) | Quantity::Length { .. });
        let sizes_vary = self.quantities.iter().any(|q| is_size(q) && self.varies(*q));
        for target in self.free.clone() {
            let values = self.values_of(target);
            let may = matches!(target, Quantity::Local(_) | Quantity::Length { .. });
            if may && sizes_vary && values.len() > 1 && !self.read.contains(&target) && !self.varies(target) {
                let formula = Formula::Number(values[0]);
                self.add(Rule::Equation { target, formula }, false, values.len());
            }
        }
        for known in &self.model.scalars {
            let (arg, offset, scalar) = (known.arg, known.offset, known.scalar);
            let of = Quantity::Scalar { arg, offset, scalar };
            let is_integer = scalar_layout::range(scalar).is_some();
            let is_settled = is_integer && (self.read.contains(&of) || !self.free.contains(&of));
            let bytes = self.launches.first().and_then(|l| scalar_bytes(l, arg, offset, scalar));
            let Some(bytes) = bytes.filter(|_| known.role != Role::Unused && !is_settled) else { continue };
            let rule = Rule::Fixed { arg, offset, scalar, bytes: bytes.to_vec() };
            if self.launches.iter().all(|l| rule.holds(l)) {
                self.found.push(LikelyInvariant { rule, is_guess: false, launches: launches as u64 });
            }
        }
    }

    /// Flags: integers that have few values, some of them again and again.
    fn values(&mut self) {
        for of in self.free.clone() {
            let Quantity::Scalar { arg, offset, .. } = of else { continue };
            let all = self.values_of(of);
            let values: BTreeSet<i128> = all.iter().copied().collect();
            let known = self.model.scalars.iter().find(|s| s.arg == arg && s.offset == offset);
            let enough = match known.map(|s| s.role) {
                Some(Role::Flag) => values.len(),
                _ => 2 * values.len(),
            };
            let is_flag = (2..=MOST_VALUES).contains(&values.len()) && all.len() > enough;
            if is_flag && !self.read.contains(&of) {
                self.add(Rule::OneOf { of, values: values.into_iter().collect() }, false, all.len());
            }
        }
    }

    fn whole_groups(&mut self) {
        let given = self.launches.iter().filter(|l| l.range.local.is_some_and(|local| local != [1; 3])).count();
        if self.differ && given > 1 && !self.model.interface.uniform_groups {
            self.add(Rule::WholeGroups, false, given);
        }
    }

    /// Contents on which addresses or loops depend.
    fn contents(&mut self) {
        for (position, (arg, known)) in self.model.interface.args.iter().zip(&self.model.args).enumerate() {
            let (ArgKind::Buffer { .. }, false) = (&arg.kind, known.contents == Contents::Data) else { continue };
            let Some(scalar) = scalar_layout::dense_scalar(&LaunchBuilder::element(arg)) else { continue };
            if scalar_layout::range(scalar).is_none() {
                continue;
            }
            let position = position as u32;
            let shown: Vec<&Launch> =
                self.launches.iter().copied().filter(|l| integers(l, position, scalar).next().is_some()).collect();
            if shown.is_empty() {
                continue;
            }
            self.bounds(position, scalar, known.contents, &shown);
            if known.contents == Contents::Offsets {
                self.offsets(position, scalar, &shown);
            }
        }
    }

    /// The least quantity that all integers of a buffer are below; where the code says what they index, the length of
    /// that.
    fn bounds(&mut self, arg: u32, scalar: Scalar, contents: Contents, shown: &[&Launch]) {
        let is_length_of = |q: &Quantity, to: u32| matches!(q, Quantity::Length { arg, .. } if *arg == to);
        let candidates: Vec<Quantity> = match contents {
            Contents::Indices { target: Region::Argument(to), scale: 1, .. } => {
                self.quantities.iter().copied().filter(|q| is_length_of(q, to)).collect()
            }
            _ => self.quantities.iter().copied().filter(|q| !is_length_of(q, arg)).collect(),
        };
        let inclusive = contents == Contents::Offsets;
        let most: Vec<Option<i128>> = shown.iter().map(|l| integers(l, arg, scalar).max()).collect();
        let is_named = matches!(contents, Contents::Indices { target: Region::Argument(_), scale: 1, .. });
        let close = |below: &Quantity| {
            let ends = shown.iter().zip(&most).filter_map(|(l, most)| Some((below.get(l)?, (*most)?)));
            let ends: Vec<(i128, i128)> = ends.collect();
            let is_reached = ends.iter().any(|(below, most)| most + i128::from(!inclusive) == *below);
            // Elsewhere only a quantity that the contents come close to, in launches that differ, is no accident.
            is_named || is_reached && ends.iter().all(|(below, most)| 2 * most >= *below) && self.varies(*below)
        };
        let rule = |below: Quantity| Rule::Within { arg, scalar, below, inclusive };
        let fits = |below: &Quantity| close(below) && shown.iter().all(|l| rule(*below).holds(l));
        let total = |q: &Quantity| self.values_of(*q).iter().sum::<i128>();
        let best = candidates.into_iter().filter(fits).min_by_key(total);
        if let Some(below) = best {
            let is_guess = shown.len() < 2;
            self.add(rule(below), is_guess, shown.len());
        }
    }

    fn offsets(&mut self, arg: u32, scalar: Scalar, shown: &[&Launch]) {
        let holds = |rule: &Rule| shown.iter().all(|l| rule.holds(l));
        let is_guess = shown.len() < 2;
        let mut rules = vec![Rule::Rising { arg, scalar }, Rule::FromZero { arg, scalar }];
        // Lengths first: they are what offsets end at.
        let is_length = |q: &&Quantity| matches!(q, Quantity::Length { arg: other, .. } if *other != arg);
        let is_scalar = |q: &&Quantity| matches!(q, Quantity::Scalar { .. });
        let ends = self.quantities.iter().filter(is_length).chain(self.quantities.iter().filter(is_scalar));
        let telling = |q: &&Quantity| self.values_of(**q).iter().all(|n| *n > 1) && (self.varies(**q) || is_length(q));
        let last = ends.filter(telling).map(|q| Rule::UpTo { arg, scalar, last: *q }).find(holds);
        rules.extend(last);
        for rule in rules.into_iter().filter(holds).collect::<Vec<_>>() {
            self.add(rule, is_guess, shown.len());
        }
    }
}

/// Returns a number passed by value, as in memory.
fn scalar_bytes(launch: &Launch, arg: u32, offset: u64, scalar: Scalar) -> Option<&[u8]> {
    let ArgValue::Value(bytes) = launch.args.get(arg as usize)? else { return None };
    bytes.get(offset as usize..)?.get(..scalar.size() as usize)
}
