//! Builds solver queries from path conditions: what has to hold for another launch to leave a step of a path by
//! another edge.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use kassay_model::interface::Scalar;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout::Number;

use super::inputs::{self, Input, Inputs};
use super::memory::MAX_BUFFER_BYTES;
use super::trace::{PathStep, Trace};
use super::variables::Variables;
use crate::program::Program;
use crate::program::arithmetic::float_bits;
use crate::solve::expression::{Node, Operation, Sort, Term, Terms};

/// Bound on numbers that are tried first: loops that they bound stay short, and array elements that they index exist.
const SMALL: u64 = 64;

/// Selects what may change in the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freedom {
    /// Buffer contents, and the scalars that the flipped condition itself compares. Addresses are then constants, which
    /// makes the query easy.
    Contents,
    /// As [`Freedom::Contents`], in longer buffers.
    Longer,
    /// As [`Freedom::Values`], and integers in the flipped condition are small.
    Small,
    /// All values; buffers and the NDRange keep their sizes.
    Values,
    /// As [`Freedom::Values`], and the subject keeps its ids.
    Same,
    /// The number of work-groups as well; their size, and the offset and dimensions of the NDRange are kept.
    Groups,
    /// The work-group size as well; the offset and the dimensions of the NDRange are kept.
    Sizes,
    /// Offset and dimensions may change, sizes only where other dimensions require it.
    Offset,
    /// Accesses may go to other addresses.
    Everything,
    /// Launches may also exceed the usual sizes, by this many steps.
    Large(u32),
    /// As [`Freedom::Same`], and integers in the condition are small: for faults of one work-item.
    Repair,
}

impl Freedom {
    /// In the order in which they are tried. The first two are tried even before it is known whether the path
    /// is feasible.
    pub const ALL: [Freedom; 12] = [
        Freedom::Contents,
        Freedom::Longer,
        Freedom::Small,
        Freedom::Values,
        Freedom::Same,
        Freedom::Groups,
        Freedom::Sizes,
        Freedom::Offset,
        Freedom::Everything,
        Freedom::Large(1),
        Freedom::Large(2),
        Freedom::Large(3),
    ];

    /// Returns whether the NDRange may have other sizes.
    fn resizes(self) -> bool {
        matches!(self, Freedom::Groups | Freedom::Sizes | Freedom::Offset | Freedom::Everything | Freedom::Large(_))
    }

    /// Returns whether the NDRange may have another offset and another number of dimensions.
    fn moves(self) -> bool {
        matches!(self, Freedom::Offset | Freedom::Everything | Freedom::Large(_))
    }

    /// Returns whether accesses may go to other addresses.
    fn unpins(self) -> bool {
        matches!(self, Freedom::Everything | Freedom::Large(_))
    }
}

/// The conditions of a query, grouped by which may be dropped.
#[derive(Debug, Clone, Default)]
pub struct PathQuery {
    /// Conditions that have to hold in any case, the flipped one first.
    pub conditions: Vec<Term>,
    pins: Vec<Term>,
    /// Conditions that keep the path in the same state.
    chosen: Vec<Term>,
    /// Position, address, size.
    accesses: Vec<(usize, Term, u64)>,
    /// Scalars and cells in the flipped condition.
    flipped: Vec<Term>,
    /// Scalars that occur outside addresses in the flipped condition.
    compared: BTreeSet<Term>,
    /// All free variables.
    symbols: Vec<Term>,
    cells: Vec<(usize, Term)>,
    /// The NDRange and the work-group have to be kept.
    fixed: bool,
}

/// The launch and the trace that a query is about.
pub struct QueryContext<'a> {
    pub program: &'a Program,
    pub inputs: &'a Inputs,
    pub launch: &'a Launch,
    pub local: [u64; 3],
    pub trace: &'a Trace,
    /// Time at which building a query is abandoned.
    pub end: Option<Instant>,
}

/// Conditions between two looks at the clock.
const CLOCK: usize = 64;

impl QueryContext<'_> {
    fn is_late(&self, turn: usize) -> bool {
        turn.is_multiple_of(CLOCK) && self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Returns the steps of a work-item's path up to `position`, and those of other work-items that they depend on; the
    /// flag says whether a step belongs to another work-item than the subject.
    fn prefix(&self, (item, position): (usize, usize)) -> Vec<(PathStep, bool)> {
        let paths = &self.trace.paths;
        let subject = self.trace.subject;
        let mut lengths: BTreeMap<usize, usize> = [(item, position)].into();
        let mut todo = vec![(item, 0, position)];
        while let Some((item, from, to)) = todo.pop() {
            for step in paths[item].get(from..to).unwrap_or_default() {
                let PathStep::Depends { item: other, length } = step else { continue };
                let (other, length) = (*other as usize, *length as usize);
                let known = lengths.entry(other).or_insert(0);
                if other < paths.len() && *known < length {
                    todo.push((other, *known, length));
                    *known = length;
                }
            }
        }
        let mut lengths: Vec<(usize, usize)> = lengths.into_iter().collect();
        lengths.sort_by_key(|(item, _)| *item != subject);
        let steps = lengths.iter().filter_map(|(item, length)| Some((*item, paths.get(*item)?.get(..*length)?)));
        steps.flat_map(|(item, steps)| steps.iter().map(move |step| (*step, item != subject))).collect()
    }

    /// Collects the conditions for a step to take another edge, and everything that they depend on. `place`: the
    /// work-item and the position of the step; `chosen`: conditions that keep the path in the same state. `None` once
    /// the time is up.
    pub fn build(
        &self,
        terms: &mut Terms,
        variables: &mut Variables,
        place: (usize, usize),
        flipped: Term,
        chosen: &[Term],
    ) -> Option<PathQuery> {
        let mut candidates: Vec<(Term, ConstraintKind, bool)> = Vec::new();
        for (step, is_other) in self.prefix(place) {
            match step {
                PathStep::Pin(pin) => candidates.push((pin, ConstraintKind::Pin, is_other)),
                PathStep::Access { position, at, size } => {
                    candidates.push((at, ConstraintKind::Access(position as usize, size), is_other));
                }
                step => {
                    candidates
                        .extend(step.condition(terms, self.program).map(|c| (c, ConstraintKind::Condition, is_other)));
                }
            }
        }
        let fixed = place.0 != self.trace.subject;
        let mut path_query = PathQuery { conditions: vec![flipped], fixed, ..PathQuery::default() };
        let mut seen: BTreeSet<(Term, ConstraintKind)> = BTreeSet::new();
        candidates.extend(chosen.iter().map(|c| (*c, ConstraintKind::Choice, false)));
        candidates.retain(|c| seen.insert((c.0, c.1)));
        // Cells at constant and at symbolic offsets of one buffer depend on each other.
        let mut wholes = BTreeSet::new();
        for (turn, root) in candidates.iter().map(|c| c.0).chain([flipped]).enumerate() {
            if self.is_late(turn) {
                return None;
            }
            wholes.extend(variables.of(terms, root).iter().filter(|v| !variables.is_cell(**v)));
        }
        let mut reached: BTreeSet<u32> = variables.within(terms, flipped, &wholes).into_iter().collect();
        let mut rest: Vec<(Vec<u32>, (Term, ConstraintKind, bool))> =
            candidates.into_iter().map(|c| (variables.within(terms, c.0, &wholes), c)).collect();
        loop {
            let before = rest.len();
            if self.is_late(0) {
                return None;
            }
            rest.retain(|(of, (term, kind, is_other))| {
                let is_near = of.iter().any(|v| reached.contains(v));
                if is_near {
                    reached.extend(of);
                    // The ids of other work-items are constants that are only valid in a launch of the same sizes.
                    path_query.fixed |= is_other;
                    match *kind {
                        ConstraintKind::Condition => path_query.conditions.push(*term),
                        ConstraintKind::Choice => path_query.chosen.push(*term),
                        ConstraintKind::Pin => path_query.pins.push(*term),
                        ConstraintKind::Access(position, size) => path_query.accesses.push((position, *term, size)),
                    }
                }
                !is_near
            });
            if rest.len() == before {
                break;
            }
        }
        let roots: Vec<Term> = path_query
            .conditions
            .iter()
            .chain(&path_query.pins)
            .chain(&path_query.chosen)
            .copied()
            .chain(path_query.accesses.iter().map(|(_, at, _)| *at))
            .collect();
        path_query.free(terms, &roots, flipped);
        Some(path_query)
    }

    /// Returns the conditions with this freedom; whatever is fixed is replaced by its value. `None` if that is no more
    /// than less freedom gives, or if the conditions cannot hold.
    /// `is_narrow`: integers in the flipped condition have no more than half of their bits, so that no product of two
    /// overflows.
    pub fn conditions(
        &self,
        terms: &mut Terms,
        path_query: &PathQuery,
        freedom: Freedom,
        is_narrow: bool,
    ) -> Option<Vec<Term>> {
        let mut all = path_query.conditions.clone();
        if is_narrow {
            all.extend(path_query.small(terms, self.inputs, |width| (1 << (width / 2 - 1)) - 1));
        }
        if !freedom.unpins() {
            all.extend(path_query.pins.iter().chain(&path_query.chosen));
        }
        let has_sizes = self.has_size(terms, path_query);
        match freedom {
            Freedom::Small | Freedom::Repair => {
                let small = path_query.small(terms, self.inputs, |_| SMALL);
                if small.is_empty() {
                    return None;
                }
                all.extend(small);
            }
            Freedom::Contents if path_query.symbols.iter().all(|s| path_query.compared.contains(s)) => return None,
            Freedom::Longer if path_query.accesses.is_empty() => return None,
            Freedom::Same if !self.has_id(terms, path_query) => return None,
            Freedom::Groups if path_query.fixed || !has_sizes && path_query.accesses.is_empty() => return None,
            Freedom::Sizes if path_query.fixed || !has_sizes => return None,
            Freedom::Offset if path_query.fixed || !self.has(terms, path_query, &[inputs::OFFSET, inputs::DIMS]) => {
                return None;
            }
            Freedom::Everything if path_query.pins.is_empty() && path_query.chosen.is_empty() => return None,
            Freedom::Large(n) if path_query.fixed || !has_sizes || !self.inputs.ranges.grow(n) => return None,
            _ => {}
        }
        let grows = freedom == Freedom::Longer || freedom.resizes();
        for (position, at, size) in &path_query.accesses {
            let length = match self.launch.args.get(*position) {
                Some(ArgValue::Buffer(bytes)) => bytes.len() as u64,
                _ => 0,
            };
            let room = if grows { MAX_BUFFER_BYTES.max(length) } else { length };
            let end = terms.constant(room.saturating_sub(size - 1).max(1), Sort::Bits(64));
            all.push(terms.compare(Operation::Ult, *at, end));
        }
        let mut known = self.range(terms, path_query, freedom, &mut all);
        if matches!(freedom, Freedom::Contents | Freedom::Longer) {
            for symbol in path_query.symbols.iter().filter(|s| !path_query.compared.contains(s)) {
                let scalar = name(terms, *symbol).filter(|n| inputs::scalar_of(n).is_some());
                let value =
                    scalar.map(|n| inputs::value_of(n, self.launch, self.local, self.trace.group, self.trace.local));
                if let Some(bits) = value {
                    let value = terms.constant(bits, terms.sort(*symbol));
                    known.insert(*symbol, value);
                }
            }
        }
        self.bounds(terms, path_query, &mut all);
        for (turn, condition) in all.iter_mut().enumerate() {
            if self.is_late(turn) {
                return None;
            }
            *condition = substituted(terms, *condition, &mut known);
        }
        all.retain(|c| terms.as_constant(*c) != Some(1));
        let is_open = !all.iter().any(|c| terms.as_constant(*c) == Some(0));
        is_open.then_some(all)
    }

    fn has_size(&self, terms: &Terms, path_query: &PathQuery) -> bool {
        let sizes = [inputs::GROUPS, inputs::LOCAL_SIZE, inputs::OFFSET, inputs::GROUP_ID, inputs::LOCAL_ID];
        self.has(terms, path_query, &sizes)
    }

    fn has_id(&self, terms: &Terms, path_query: &PathQuery) -> bool {
        self.has(terms, path_query, &[inputs::GROUP_ID, inputs::LOCAL_ID])
    }

    /// Returns whether one of these symbols of the NDRange is free.
    fn has(&self, terms: &Terms, path_query: &PathQuery, names: &[&str]) -> bool {
        let is_one = |n: &str| n.split_once('.').is_some_and(|(n, _)| names.contains(&n));
        path_query.symbols.iter().any(|s| name(terms, *s).is_some_and(is_one))
    }

    /// Adds the conditions that ids are less than sizes, and that a launch may have these sizes. Returns the values of
    /// the symbols that are fixed.
    fn range(
        &self,
        terms: &mut Terms,
        path_query: &PathQuery,
        freedom: Freedom,
        all: &mut Vec<Term>,
    ) -> HashMap<Term, Term> {
        let mut known = HashMap::new();
        let grows = freedom.resizes() && !path_query.fixed;
        let moves = freedom.moves() && !path_query.fixed;
        let ranges = &self.inputs.ranges;
        let used: BTreeSet<String> =
            path_query.symbols.iter().filter_map(|s| name(terms, *s).map(str::to_owned)).collect();
        let dims_name = inputs::range_symbol(inputs::DIMS, 0);
        let asks_dims = used.contains(&dims_name);
        if used.iter().all(|n| inputs::scalar_of(n).is_some()) {
            return known;
        }
        let of = Sort::Bits(inputs::ID_BITS);
        let (one, three) = (terms.constant(1, of), terms.constant(3, of));
        let dims = terms.symbol(dims_name, Sort::Bits(inputs::ID_BITS));
        if asks_dims && moves && !ranges.fixed {
            all.push(terms.compare(Operation::Ule, one, dims));
            all.push(terms.compare(Operation::Ule, dims, three));
        } else {
            let value = terms.constant(self.launch.range.dims.into(), Sort::Bits(inputs::ID_BITS));
            known.insert(dims, value);
        }
        let mut sizes = Vec::new();
        let counts = self.launch.range.with_local(self.local).group_counts();
        for (d, count) in counts.into_iter().enumerate() {
            let names = [inputs::GROUPS, inputs::LOCAL_SIZE, inputs::OFFSET, inputs::GROUP_ID, inputs::LOCAL_ID];
            let symbols = names.map(|n| terms.symbol(inputs::range_symbol(n, d), Sort::Bits(inputs::range_bits(n))));
            let is_used = names.iter().any(|n| used.contains(&inputs::range_symbol(n, d))) || asks_dims;
            let [groups, size, offset, group_id, local_id] = symbols;
            let range = &self.launch.range;
            let local = self.local[d].max(1);
            let same = [(groups, count), (size, local), (offset, range.offset[d])];
            for (i, (symbol, value)) in same.into_iter().enumerate() {
                let may_change = match i {
                    0 => grows && (freedom != Freedom::Offset || asks_dims),
                    1 => {
                        let is_free = grows && (freedom != Freedom::Offset || asks_dims);
                        is_free && ranges.local.is_none() && freedom != Freedom::Groups
                    }
                    _ => moves && self.inputs.asks_offset,
                };
                if !is_used || ranges.fixed || !may_change {
                    let of = terms.sort(symbol);
                    let value = terms.constant(value, of);
                    known.insert(symbol, value);
                }
            }
            sizes.push((groups, size));
            if !is_used {
                continue;
            }
            all.push(terms.compare(Operation::Ult, group_id, groups));
            all.push(terms.compare(Operation::Ult, local_id, size));
            let stays = matches!(freedom, Freedom::Same | Freedom::Contents | Freedom::Longer | Freedom::Repair);
            if stays || path_query.fixed {
                let value = terms.constant(self.trace.group[d], Sort::Bits(inputs::ID_BITS));
                known.insert(group_id, value);
            }
            if stays {
                let value = terms.constant(self.trace.local[d], Sort::Bits(inputs::ID_BITS));
                known.insert(local_id, value);
            }
            if moves && self.inputs.asks_offset {
                // Ids stay within `size_t`.
                let far = terms.constant(1 << 62, Sort::Bits(64));
                all.push(terms.compare(Operation::Ult, offset, far));
            }
            if asks_dims && d > 0 {
                let number = terms.constant(d as u64, Sort::Bits(inputs::ID_BITS));
                let has_it = terms.compare(Operation::Ult, number, dims);
                let none = terms.constant(0, Sort::Bits(64));
                for (symbol, least) in [(groups, one), (size, one), (offset, none)] {
                    let is_least = terms.compare(Operation::Eq, symbol, least);
                    all.push(terms.or(has_it, is_least));
                }
            }
        }
        if grows {
            let growth = if let Freedom::Large(n) = freedom { n } else { 0 };
            limit(terms, ranges.most(growth), &sizes, all);
        }
        known
    }

    /// Adds the user's bounds on the numbers that may change.
    fn bounds(&self, terms: &mut Terms, path_query: &PathQuery, all: &mut Vec<Term>) {
        for symbol in &path_query.symbols {
            let Some((position, offset)) = name(terms, *symbol).and_then(inputs::scalar_of) else { continue };
            let Some(input) = self.inputs.args.get(position) else { continue };
            let leaf = input.leaves.iter().find(|l| l.offset == offset);
            if let Some(leaf) = leaf {
                bound(terms, input, leaf.scalar, *symbol, all);
            }
        }
        for (position, cell) in &path_query.cells {
            let Some(input) = self.inputs.args.get(*position) else { continue };
            if let Some(scalar) = input.scalar.filter(|s| s.size() == input.granule) {
                bound(terms, input, scalar, *cell, all);
            }
        }
    }
}

/// Limits the sizes of work-groups and launches; `sizes`: number and size of the groups, by dimension.
fn limit(terms: &mut Terms, (items, group): (u64, u64), sizes: &[(Term, Term)], all: &mut Vec<Term>) {
    let of = Sort::Bits(64);
    let mut product = |terms: &mut Terms, so_far: Option<Term>, factor: Term, most: u64| {
        let factor = terms.apply(Operation::ZExt, vec![factor], of);
        let bound = terms.constant(most, of);
        // The product of factors within the limit fits into 64 bits.
        all.push(terms.compare(Operation::Ule, factor, bound));
        let Some(so_far) = so_far else { return factor };
        let product = terms.apply(Operation::Mul, vec![so_far, factor], of);
        all.push(terms.compare(Operation::Ule, product, bound));
        product
    };
    let (mut of_group, mut of_launch) = (None, None);
    for (groups, size) in sizes {
        of_group = Some(product(terms, of_group, *size, group));
        of_launch = Some(product(terms, of_launch, *groups, items));
        of_launch = Some(product(terms, of_launch, *size, items));
    }
}

/// Replaces terms in `root`; `known` maps terms to replacements and caches the results.
fn substituted(terms: &mut Terms, root: Term, known: &mut HashMap<Term, Term>) -> Term {
    let mut todo = vec![root];
    while let Some(term) = todo.last().copied() {
        if known.contains_key(&term) {
            todo.pop();
            continue;
        }
        let (operation, args) = match terms.node(term) {
            Node::Apply(operation, args) => (Ok(*operation), args.clone()),
            Node::Unknown(name, args) => (Err(name.clone()), args.clone()),
            Node::Symbol(_) | Node::Constant(_) => {
                known.insert(term, term);
                continue;
            }
        };
        let before = todo.len();
        todo.extend(args.iter().filter(|a| !known.contains_key(a)));
        if todo.len() == before {
            let sort = terms.sort(term);
            let others: Vec<Term> = args.iter().map(|a| known[a]).collect();
            let other = match operation {
                _ if others == args => term,
                Ok(operation) => terms.apply(operation, others, sort),
                Err(name) => terms.unknown(name, others, sort),
            };
            known.insert(term, other);
            todo.pop();
        }
    }
    known[&root]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ConstraintKind {
    Condition,
    Choice,
    Pin,
    Access(usize, u64),
}

fn name(terms: &Terms, symbol: Term) -> Option<&str> {
    match terms.node(symbol) {
        Node::Symbol(name) => Some(name),
        _ => None,
    }
}

fn bound(terms: &mut Terms, input: &Input, scalar: Scalar, bits: Term, all: &mut Vec<Term>) {
    let width = 8 * scalar.size() as u32;
    for (limit, is_least) in [(input.least, true), (input.greatest, false)] {
        let Some(limit) = limit else { continue };
        let (value, limit, less_or_equal) = if scalar.is_float() {
            let value = terms.apply(Operation::FromBits, vec![bits], Sort::Float(width));
            let limit = terms.constant(float_bits(limit.as_f64(), width), Sort::Float(width));
            (value, limit, Operation::FLe)
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let number = match limit {
                Number::Integer(n) => n,
                Number::Float(x) => {
                    if is_least {
                        x.ceil() as i128
                    } else {
                        x.floor() as i128
                    }
                }
            };
            let (least, greatest) = kassay_suite::scalar_layout::range(scalar).unwrap_or((0, 0));
            if number < least && is_least || number > greatest && !is_least {
                continue;
            }
            let limit = terms.constant(number.clamp(least, greatest) as u64, Sort::Bits(width));
            (bits, limit, if scalar.is_signed() { Operation::Sle } else { Operation::Ule })
        };
        let (low, high) = if is_least { (limit, value) } else { (value, limit) };
        all.push(terms.compare(less_or_equal, low, high));
    }
}

impl PathQuery {
    /// Finds the free variables of the query.
    fn free(&mut self, terms: &Terms, roots: &[Term], flipped: Term) {
        let mut within = vec![flipped];
        let mut known = BTreeSet::new();
        while let Some(term) = within.pop() {
            match terms.node(term) {
                Node::Apply(_, args) if known.insert(term) => within.extend(args),
                Node::Symbol(name) if inputs::scalar_of(name).is_some() => {
                    self.compared.insert(term);
                }
                _ => {}
            }
        }
        let mut seen = BTreeSet::new();
        let mut todo: Vec<(Term, bool)> = roots.iter().map(|r| (*r, *r == flipped)).collect();
        // Variables in the flipped condition are visited first.
        todo.sort_by_key(|(_, first)| *first);
        while let Some((term, first)) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            match terms.node(term) {
                Node::Symbol(name) => {
                    self.symbols.push(term);
                    if first && inputs::scalar_of(name).is_some() {
                        self.flipped.push(term);
                    }
                }
                Node::Unknown(name, args) => {
                    if let Some((position, _)) = inputs::buffer_of(name) {
                        self.cells.push((position, term));
                        if first {
                            self.flipped.push(term);
                        }
                    }
                    todo.extend(args.iter().map(|a| (*a, first)));
                }
                Node::Apply(_, args) => todo.extend(args.iter().map(|a| (*a, first))),
                Node::Constant(_) => {}
            }
        }
    }

    /// Returns the conditions that the integers in the flipped condition are at most so large, given their width.
    fn small(&self, terms: &mut Terms, inputs: &Inputs, most: impl Fn(u32) -> u64) -> Vec<Term> {
        let mut all = Vec::new();
        for term in &self.flipped {
            let scalar = match terms.node(*term) {
                Node::Symbol(name) => inputs::scalar_of(name).and_then(|(position, offset)| {
                    inputs.args.get(position)?.leaves.iter().find(|l| l.offset == offset).map(|l| l.scalar)
                }),
                Node::Unknown(name, _) => inputs::buffer_of(name).and_then(|(p, _)| inputs.args.get(p)?.scalar),
                _ => None,
            };
            let Sort::Bits(width @ 16..) = terms.sort(*term) else { continue };
            if scalar.is_none_or(Scalar::is_float) {
                continue;
            }
            let most = terms.constant(most(width), Sort::Bits(width));
            all.push(terms.compare(Operation::Ule, *term, most));
        }
        all
    }
}
