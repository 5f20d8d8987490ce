//! Finds the conditions that a kernel's code suggests, from the ids that it reads, the constants of its index
//! arithmetic, and the scalars that take part in its addresses and checks.

use std::collections::{BTreeMap, BTreeSet};

use kassay_ir::llvm::Opcode;
use kassay_model::condition::{Condition, IndexBuffer, Quantity, ScalarArgument};
use kassay_prove::program::{Op, Region, ValueId};

use super::checks;
use super::known::integers_of;
use crate::generate::access_summary::{Access, AccessKind, AccessSummary};
use crate::generate::atomic_counters;
use crate::generate::content_roles;
use crate::generate::id_uses::IdUses;
use crate::generate::model::{Contents, KernelModel, Role, ScalarModel};
use crate::generate::pitches::{self, Offset};
use crate::generate::polynomial::{Atom, EVERY, Id, Poly, id_of};
use crate::generate::repeated_writes;
use crate::generate::scalars_in_buffers;

/// Scalars that are compared with each other, at most.
const MAX_SCALARS: usize = 12;
/// The least constant that is taken for a work-group size: a smaller group hides what its work-items do to each other.
const LEAST_GROUP: i128 = 4;
/// The greatest.
const LARGEST_GROUP: i128 = 1024;
/// The greatest width of a border that a scalar may have to leave.
const WIDEST_BORDER: i64 = 4;
/// Constants that are taken for work-group sizes, at most.
const MAX_LITERALS: usize = 10;

/// The conditions that a kernel's code suggests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Each may be enough on its own; the weakest first.
    pub single: Vec<Condition>,
    /// What the code takes for granted at each place where it addresses memory: alignments, and strides that do not
    /// overlap. Kernels with many strides rely on many of them at once.
    pub joint: Vec<Condition>,
}

/// Returns the candidates. `fixed`: the sizes of launches are given.
pub(super) fn of(model: &KernelModel, summary: &AccessSummary<'_>, fixed: bool) -> Candidates {
    let mut ids = IdUses::of(summary).read().clone();
    // Sub-groups lie along the first dimension of a group.
    ids.extend(model.groups.sub_group.map(|_| (Id::Local, 0)));
    let (guards, borders) = (guards(summary), checks::borders(summary));
    let finder = Finder { model, summary, ids, guards, borders, coordinates: pitches::coordinates(summary) };
    let mut single = finder.of_scalars();
    single.extend(finder.of_contents());
    if !fixed && model.groups.required.is_none() {
        single.extend(finder.of_sizes());
    }
    let mut joint = finder.of_addresses();
    // Dimensions that the code tells apart by the group's id or the local id alone, all of them at once; and all
    // dimensions of an image with a border.
    let widest = finder.borders.last().copied();
    let is_of_all = |one: &&Condition| match one {
        Condition::Equal(_, Quantity::Constant(1)) => true,
        // Of several borders the widest.
        Condition::AtLeast(Quantity::GlobalSize(_), Quantity::Constant(n)) => Some(*n) == widest,
        _ => false,
    };
    for one in single.iter().filter(is_of_all) {
        if !joint.contains(one) {
            joint.push(one.clone());
        }
    }
    single.extend(joint.iter().cloned());
    let mut seen = BTreeSet::new();
    single.sort_by_cached_key(|condition| (condition.strength(), constant(condition), condition.to_string()));
    single.retain(|condition| seen.insert(condition.to_string()));
    Candidates { single, joint }
}

/// Returns scalars and dimensions whose ids the code compares with them: it is made for launches that exceed the
/// scalar.
fn guards(summary: &AccessSummary<'_>) -> BTreeSet<(Atom, u8)> {
    let mut found = BTreeSet::new();
    for (_, fact) in summary.facts.all().filter(|(_, fact)| !fact.is_equal) {
        let ids = fact.lhs.atoms().chain(fact.rhs.atoms()).filter_map(|atom| match atom {
            Atom::Id(Id::Global | Id::Local | Id::Group, d) => Some(vec![d]),
            // Something computed of ids, such as a row: which of them does not matter.
            Atom::Value(value) if depends_on_id(summary, value) => Some(vec![0, 1, 2]),
            _ => None,
        });
        let dimensions: BTreeSet<u8> = ids.flatten().collect();
        for scalar in fact.lhs.atoms().chain(fact.rhs.atoms()).filter(|atom| matches!(atom, Atom::Arg(..))) {
            found.extend(dimensions.iter().map(|d| (scalar, *d)));
        }
    }
    found
}

fn depends_on_id(summary: &AccessSummary<'_>, value: ValueId) -> bool {
    summary.sources(value).into_iter().any(|source| {
        let is_id = |base: &str| matches!(id_of(base), Some(Id::Global | Id::Local | Id::Group));
        summary.program.instruction(source).is_some_and(|i| matches!(&i.op, Op::Call(_, base) if is_id(base)))
    })
}

struct Finder<'a, 'p> {
    model: &'a KernelModel,
    summary: &'a AccessSummary<'p>,
    ids: BTreeSet<(Id, u8)>,
    guards: BTreeSet<(Atom, u8)>,
    /// Widths of borders.
    borders: BTreeSet<i64>,
    /// At which images are written.
    coordinates: Vec<Offset>,
}

impl Finder<'_, '_> {
    fn reads(&self, ids: &[Id], dimension: u8) -> bool {
        ids.iter().any(|id| self.ids.contains(&(*id, dimension)))
    }

    fn dimensions(&self) -> std::ops::Range<u8> {
        0..u8::try_from(self.model.dims.min(3)).unwrap_or(3)
    }

    /// The integers that matter, those of addresses first.
    fn scalars(&self) -> Vec<&ScalarModel> {
        let mut all: Vec<&ScalarModel> = self
            .model
            .scalars
            .iter()
            .filter(|s| !s.scalar.is_float() && s.role != Role::Unused && s.list.is_none() && s.offset != EVERY)
            .collect();
        all.sort_by_cached_key(|s| (!self.is_in_address(s), s.role, s.arg, s.offset));
        all.truncate(MAX_SCALARS);
        all
    }

    fn is_in_address(&self, scalar: &ScalarModel) -> bool {
        let atom = Atom::Arg(scalar.arg, scalar.offset);
        self.summary.accesses.iter().any(|access| access.offset.has(atom))
            || self.coordinates.iter().any(|offset| offset.poly.has(atom))
    }

    /// Whether addresses step by the scalar, or by what is computed from it.
    fn is_pitch(&self, scalar: &ScalarModel) -> bool {
        let atom = Atom::Arg(scalar.arg, scalar.offset);
        let mut offsets = self.summary.accesses.iter().map(|access| &access.offset);
        offsets.any(|offset| pitches::steps_by(self.summary, offset, atom))
            || scalar.lower_bounds.iter().any(|bound| bound.is_hard)
    }

    /// Whether something is subtracted from the scalar in an address.
    fn is_counted_down(&self, scalar: &ScalarModel) -> bool {
        let own = vec![Atom::Arg(scalar.arg, scalar.offset)];
        let mut offsets = self.summary.accesses.iter().map(|access| &access.offset.0);
        offsets.any(|offset| offset.get(&own).is_some_and(|n| *n > 0) && offset.values().any(|n| *n < 0))
    }

    fn is_guard(&self, scalar: &ScalarModel, dimension: u8) -> bool {
        self.guards.contains(&(Atom::Arg(scalar.arg, scalar.offset), dimension))
    }

    fn of_scalars(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        let scalars = self.scalars();
        for scalar in &scalars {
            let own = || quantity(scalar);
            if scalar.scalar.is_signed() {
                all.push(Condition::AtLeast(own(), Quantity::Constant(0)));
            }
            if checks::is_border(self.summary, Atom::Arg(scalar.arg, scalar.offset)) {
                all.extend((1..=WIDEST_BORDER).map(|n| Condition::AtLeast(own(), Quantity::Constant(n))));
            }
            let is_in_address = self.is_in_address(scalar);
            let is_pitch = self.is_pitch(scalar);
            let is_length = is_pitch || scalar.role == Role::Count || self.is_counted_down(scalar);
            if is_length {
                all.push(Condition::AtLeast(own(), Quantity::Constant(1)));
                // A last element or row that is not the first one.
                all.extend(is_in_address.then(|| Condition::AtLeast(own(), Quantity::Constant(2))));
            }
            // A check says that the code is made for remainders.
            if is_in_address && !self.dimensions().any(|d| self.is_guard(scalar, d)) {
                all.extend([2, 4, 8, 16].map(|n| Condition::MultipleOf(own(), Quantity::Constant(n))));
            }
            if !is_in_address && scalar.role != Role::Count {
                continue;
            }
            for d in self.dimensions().filter(|d| !self.is_guard(scalar, *d)) {
                if is_pitch {
                    all.push(Condition::AtLeast(own(), Quantity::GlobalSize(d)));
                    let factors = self.factors(d).into_iter().map(Quantity::Constant);
                    all.extend(factors.map(|n| Condition::AtLeast(own(), Quantity::GlobalSize(d).times(n))));
                }
                // Of a length that is only counted to, or subtracted from.
                let is_equal = |all: &mut Vec<Condition>, size| {
                    if is_length && !is_pitch {
                        all.push(Condition::Equal(own(), size));
                    }
                };
                is_equal(&mut all, Quantity::GlobalSize(d));
                if !is_length {
                    continue;
                }
                if self.reads(&[Id::Local, Id::LocalSize, Id::Group], d) {
                    all.push(Condition::MultipleOf(own(), Quantity::LocalSize(d)));
                    is_equal(&mut all, Quantity::LocalSize(d));
                    all.push(Condition::AtLeast(own(), Quantity::LocalSize(d)));
                }
                if self.reads(&[Id::Group], d) {
                    all.push(Condition::AtLeast(own(), Quantity::Groups(d)));
                }
            }
            for other in
                scalars.iter().filter(|other| is_length && (other.arg, other.offset) != (scalar.arg, scalar.offset))
            {
                all.push(Condition::AtLeast(own(), quantity(other)));
            }
        }
        for (scalar, n) in checks::ends_of_rows(self.summary) {
            let meant = self.model.scalars.iter().filter(|s| Atom::Arg(s.arg, s.offset) == scalar);
            all.extend(meant.map(|s| Condition::AtMost(quantity(s), Quantity::Constant(n))));
        }
        for (scalar, n) in checks::wholes(self.summary, &self.model.interface, |_| true) {
            let meant = self.model.scalars.iter().filter(|s| Atom::Arg(s.arg, s.offset) == scalar);
            all.extend(meant.map(|s| Condition::MultipleOf(quantity(s), Quantity::Constant(n))));
        }
        for outer in &scalars {
            for inner in scalars.iter().filter(|inner| self.are_strides(outer, inner)) {
                for d in self.dimensions() {
                    all.push(strides(outer, inner, Quantity::GlobalSize(d)));
                }
                let apart = |s: &&&ScalarModel| [outer, inner].iter().all(|o| (o.arg, o.offset) != (s.arg, s.offset));
                all.extend(scalars.iter().filter(apart).map(|extent| strides(outer, inner, quantity(extent))));
            }
        }
        all
    }

    /// Whether an address steps by both.
    fn are_strides(&self, a: &ScalarModel, b: &ScalarModel) -> bool {
        let [a, b] = [a, b].map(|s| Atom::Arg(s.arg, s.offset));
        let steps_by = |offset: &Poly, by: Atom| {
            offset.0.iter().any(|(product, n)| *n > 0 && product.len() > 1 && product.contains(&by))
        };
        a != b && self.summary.accesses.iter().any(|access| steps_by(&access.offset, a) && steps_by(&access.offset, b))
    }

    /// Numbers of elements of a row that each work-item accesses.
    fn factors(&self, dimension: u8) -> BTreeSet<i64> {
        let global = vec![Atom::Id(Id::Global, dimension)];
        let polys = self.summary.accesses.iter().map(|access| (&access.offset, access.bytes.max(1)));
        let factors = polys.filter_map(|(offset, bytes)| {
            let coefficient = i64::try_from(*offset.0.get(&global)?).ok()?;
            coefficient.checked_div(i64::try_from(bytes).ok()?)
        });
        factors.filter(|n| (2..=64).contains(n)).chain([2, 4, 8]).collect()
    }

    fn of_contents(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        for (arg, model) in self.model.interface.args.iter().zip(&self.model.args) {
            let is_list = matches!(model.contents, Contents::List(_) | Contents::PerItem(_));
            let has_integers = integers_of(&self.model.interface, arg.position).is_some();
            if is_list || !has_integers || !self.leads_to_address(arg.position) {
                continue;
            }
            let buffer = || IndexBuffer { position: arg.position, name: arg.display_name() };
            // Where atomics share places, elements are equal.
            if !self.leads_to_atomic(arg.position) {
                all.push(Condition::Distinct(buffer()));
            }
            if model.contents == Contents::Offsets || self.has_neighbours(arg.position) {
                all.push(Condition::Rising(buffer()));
            }
            all.extend(self.scalars().into_iter().map(|s| Condition::Within(buffer(), quantity(s))));
            let rooms = content_roles::rooms(self.summary, arg.position);
            let rooms = rooms.into_iter().filter_map(|room| i64::try_from(room).ok());
            all.extend(rooms.map(|room| Condition::Within(buffer(), Quantity::Constant(room))));
            if model.contents != Contents::Offsets {
                all.extend(self.dimensions().map(|d| Condition::Within(buffer(), Quantity::GlobalSize(d))));
            }
        }
        all
    }

    /// Whether elements of a buffer are compared with others at fixed distances.
    fn has_neighbours(&self, position: u32) -> bool {
        let is_mine = |access: &&Access| access.region == Region::Argument(position);
        let offsets: Vec<&Poly> = self.summary.accesses.iter().filter(is_mine).map(|access| &access.offset).collect();
        let is_beside = |a: &Poly, b: &Poly| a.sub(b).as_constant().is_some_and(|apart| apart != 0);
        offsets.iter().any(|a| offsets.iter().any(|b| is_beside(a, b)))
    }

    /// Returns whether an address or a loop depends on what is loaded from the argument's buffer.
    fn leads_to_address(&self, position: u32) -> bool {
        let is_scalar = |load: ValueId| {
            let place = scalars_in_buffers::place(self.summary, load);
            place.is_some_and(|place| self.model.scalars.iter().any(|s| (s.arg, s.offset) == place))
        };
        let is_from_here = |value: ValueId| {
            let loads = self.summary.loads_among_sources(value);
            loads.iter().any(|(load, p)| *p == position && !is_scalar(*load))
        };
        self.model.args[position as usize].contents != Contents::Data
            || self.summary.accesses.iter().any(|access| {
                let sources = [Some(access.pointer), access.number];
                sources.into_iter().flatten().any(|v| v != access.id && is_from_here(v))
            })
    }

    /// Returns whether what is loaded from the argument's buffer says where an atomic operates.
    fn leads_to_atomic(&self, position: u32) -> bool {
        self.summary
            .accesses
            .iter()
            .filter(|access| access.kind == AccessKind::Atomic)
            .any(|access| self.summary.loads_among_sources(access.pointer).iter().any(|(_, from)| *from == position))
    }

    /// Conditions on the sizes of the launch and of its groups. A single work-item or group hides what several would
    /// do to each other; so it is a candidate only where the code tells them apart in no way.
    fn of_sizes(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        let one = |quantity| Condition::Equal(quantity, Quantity::Constant(1));
        let is_of_item = |(id, _): &(Id, u8)| matches!(id, Id::Global | Id::Local | Id::Group);
        if !self.ids.iter().any(is_of_item) {
            all.push(Condition::OneWorkItem);
            return all;
        }
        let groups = &self.model.groups;
        let repeated = repeated_writes::of(self.summary, &self.model.interface, self.dimensions().end);
        // The code may rely on several rows of work-items.
        let is_open = |d: &u8| groups.exactly[usize::from(*d)].is_none_or(|n| n == 1);
        all.extend(repeated.in_groups.into_iter().filter(is_open).map(|d| one(Quantity::LocalSize(d))));
        all.extend(repeated.only_checked.into_iter().map(|d| one(Quantity::GlobalSize(d))));
        all.extend(repeated.groups_only_checked.into_iter().map(|d| one(Quantity::Groups(d))));
        // In the first dimension, kernels that write one place are wrong rather than launched with one work-item.
        all.extend(repeated.in_launch.into_iter().filter(|d| *d > 0).map(|d| one(Quantity::GlobalSize(d))));
        // Work-items of a group whose ids are added up, each with the same factor, are told apart in one row only.
        let are_added = |d: u8| {
            let mut offsets = self.summary.accesses.iter().map(|access| &access.offset.0);
            let factor = |offset: &BTreeMap<Vec<Atom>, i128>, d| offset.get(&vec![Atom::Id(Id::Local, d)]).copied();
            offsets.any(|offset| factor(offset, d).is_some_and(|n| factor(offset, 0) == Some(n)))
        };
        all.extend(self.dimensions().skip(1).filter(|d| are_added(*d)).map(|d| one(Quantity::LocalSize(d))));
        let literals = self.literals();
        let least = |d, n| Condition::AtLeast(Quantity::GlobalSize(d), Quantity::Constant(n));
        for d in self.dimensions() {
            let (global, local, group) =
                (self.reads(&[Id::Global], d), self.reads(&[Id::Local], d), self.reads(&[Id::Group], d));
            if self.reads(&[Id::GlobalSize], d) {
                all.extend(self.borders.iter().map(|n| least(d, *n)));
            }
            if self.reads(&[Id::GlobalSize, Id::LocalSize, Id::Groups], d) {
                all.push(Condition::AtLeast(Quantity::GlobalSize(d), Quantity::Constant(2)));
            }
            match (global, local, group) {
                (false, false, false) => all.push(one(Quantity::GlobalSize(d))),
                (false, false, true) => all.push(one(Quantity::LocalSize(d))),
                (false, true, false) => all.push(one(Quantity::Groups(d))),
                _ => {}
            }
            if local || (global && self.reads(&[Id::LocalSize, Id::Group], d)) {
                // A smaller group than the arrays have room for, or than the code checks for, hides what others do.
                let most = groups.at_most[usize::from(d)];
                let is_whole = |n: &&i64| most.is_none_or(|most| i64::try_from(most) == Ok(**n));
                let literal = |n: &i64| Condition::Equal(Quantity::LocalSize(d), Quantity::Constant(*n));
                // Smaller groups would have sub-groups that go on in the next row.
                let whole = groups.sub_group.filter(|_| d == 0).and_then(|n| i64::try_from(n).ok());
                let has_whole = |n: &&i64| whole.is_none_or(|of| **n % of == 0);
                let sizes = literals.iter().filter(is_whole).filter(has_whole).filter(|n| !self.is_checked(**n, d));
                all.extend(sizes.map(literal));
                all.push(Condition::PowerOfTwo(Quantity::LocalSize(d)));
            }
        }
        all
    }

    /// Whether the code compares ids in the dimension with the constant: not all of them are below it.
    fn is_checked(&self, literal: i64, dimension: u8) -> bool {
        let ids = [Atom::Id(Id::Local, dimension), Atom::Id(Id::Global, dimension)];
        self.summary.facts.all().any(|(_, fact)| {
            let apart = fact.lhs.sub(&fact.rhs);
            let is_id = ids.iter().any(|id| apart.linear_in(*id).is_some_and(|(_, rest)| rest.as_constant().is_some()));
            let n = apart.constant_term().abs();
            is_id && (n - 1..=n + 1).contains(&i128::from(literal))
        })
    }

    /// Constants of the index arithmetic that may be sizes of work-groups: steps and bounds of loops, rows of local
    /// arrays, widths of tiles.
    fn literals(&self) -> Vec<i64> {
        let (summary, program) = (self.summary, self.summary.program);
        let mut counts: BTreeMap<i128, usize> = BTreeMap::new();
        let mut note = |n: i128| {
            if (LEAST_GROUP..=LARGEST_GROUP).contains(&n) {
                *counts.entry(n).or_default() += 1;
            }
        };
        let is_counter = |atom: &Atom| matches!(atom, Atom::Value(v) if program.is_counter(*v));
        for (_, instruction) in program.instructions() {
            match &instruction.op {
                Op::Address { steps, .. } if atomic_counters::is_local(program, instruction.result) => {
                    steps.iter().filter_map(|step| step.extent).for_each(|extent| note(extent.into()));
                }
                Op::Binary(Opcode::LLVMMul | Opcode::LLVMAdd | Opcode::LLVMShl | Opcode::LLVMOr)
                    if program.shape(instruction.result).is_int() =>
                {
                    let poly = summary.symbols.poly(instruction.result);
                    for (product, n) in &poly.0 {
                        if let [Atom::Id(..)] = product[..] {
                            note(*n);
                        } else if product.len() == 1 && is_counter(&product[0]) {
                            note(*n);
                        }
                    }
                    let steps = poly.0.keys().any(|product| product.iter().any(is_counter));
                    if steps {
                        note(poly.constant_term());
                    }
                }
                Op::Binary(Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem) => {
                    instruction
                        .operands
                        .get(1)
                        .and_then(|by| program.constant(*by))
                        .into_iter()
                        .for_each(|n| note(n.into()));
                }
                _ => {}
            }
        }
        for (_, fact) in summary.facts.all() {
            for (poly, other) in [(&fact.lhs, &fact.rhs), (&fact.rhs, &fact.lhs)] {
                let of_id = |atom: Atom| matches!(atom, Atom::Id(Id::Local, _)) || is_counter(&atom);
                if let Some(n) = poly.as_constant().filter(|_| other.atoms().any(of_id)) {
                    note(n);
                }
            }
        }
        let mut all: Vec<(usize, i128)> = counts.into_iter().map(|(n, count)| (count, n)).collect();
        all.sort_by_key(|(count, n)| (std::cmp::Reverse(*count), *n));
        all.truncate(MAX_LITERALS);
        let mut literals: Vec<i64> = all.into_iter().filter_map(|(_, n)| i64::try_from(n).ok()).collect();
        literals.sort_unstable();
        literals
    }

    /// What the code takes for granted where it addresses memory.
    fn of_addresses(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        for (scalar, n) in self.alignments() {
            all.push(Condition::MultipleOf(quantity(scalar), Quantity::Constant(n)));
        }
        for Offset { poly: offset, bytes, .. } in pitches::offsets(self.summary) {
            let strides_of = self.strides_of(&offset);
            if let Some((smallest, _)) = strides_of.first() {
                all.extend(self.rows(&offset, bytes, smallest));
            }
            for pair in strides_of.windows(2) {
                if let ([(inner, Some(extent)), (outer, _)], true) = (pair, pair[0].0 != pair[1].0) {
                    all.push(Condition::Strides {
                        outer: Quantity::Scalar(outer.clone()),
                        inner: Quantity::Scalar(inner.clone()),
                        extent: extent.clone(),
                    });
                }
            }
        }
        let mut seen = BTreeSet::new();
        all.retain(|condition| !always_holds(condition) && seen.insert(condition.to_string()));
        all
    }

    /// What the smallest stride of an address has to exceed so that rows do not overlap: what is accessed in a row.
    fn rows(&self, offset: &Poly, bytes: u64, stride: &ScalarArgument) -> Vec<Condition> {
        let atom = Atom::Arg(stride.position, stride.offset);
        let terms = |is_row: bool| offset.0.iter().filter(move |(product, _)| product.contains(&atom) == is_row);
        let Some(step) = terms(true).map(|(_, n)| n.abs()).min().filter(|n| *n > 0) else { return Vec::new() };
        let own = || Quantity::Scalar(stride.clone());
        let column = terms(false).filter_map(|(product, n)| match product[..] {
            [index] if !matches!(index, Atom::Arg(..)) && *n >= step && n % step == 0 => {
                Some((self.steps(index)?, i64::try_from(n / step).ok()?))
            }
            _ => None,
        });
        let column: Vec<Condition> = column
            .map(|(steps, n)| match n {
                1 => Condition::AtLeast(own(), steps),
                n => Condition::AtLeast(own(), steps.times(Quantity::Constant(n))),
            })
            .collect();
        let element = (i128::from(bytes) + step - 1) / step;
        match i64::try_from(element) {
            Ok(element) if column.is_empty() => vec![Condition::AtLeast(own(), Quantity::Constant(element))],
            _ => column,
        }
    }

    /// The scalars that are added to addresses in bytes, directly or times an index, and of what they must be multiples
    /// so that the access is aligned.
    fn alignments(&self) -> Vec<(&ScalarModel, i64)> {
        let mut found: BTreeMap<(u32, u64), i128> = BTreeMap::new();
        for offset in pitches::offsets(self.summary) {
            for (scalar, of, _) in pitches::unaligned(&offset.poly, offset.alignment) {
                if let Atom::Arg(arg, offset) = scalar {
                    let known = found.entry((arg, offset)).or_insert(1);
                    *known = of.max(*known);
                }
            }
        }
        let scalar = |key: (u32, u64)| self.model.scalars.iter().find(|s| (s.arg, s.offset) == key);
        let all = found.into_iter().filter(|(_, n)| *n > 1);
        all.filter_map(|(key, n)| Some((scalar(key)?, i64::try_from(n).ok()?))).collect()
    }

    /// The strides of an address in the order of the arguments, each with the number of its steps, if that is known.
    fn strides_of(&self, offset: &Poly) -> Vec<(ScalarArgument, Option<Quantity>)> {
        let mut found: BTreeMap<(u32, u64), Option<Quantity>> = BTreeMap::new();
        for product in offset.0.keys().filter(|product| product.len() > 1) {
            let [.., last] = product[..] else { continue };
            let at = product.iter().rposition(|atom| matches!(atom, Atom::Arg(..)));
            let Some((at, Atom::Arg(arg, within))) = at.map(|at| (at, product[at])) else { continue };
            let extent = (product.len() == 2).then(|| if at == 1 { product[0] } else { last });
            found.entry((arg, within)).or_insert_with(|| extent.and_then(|index| self.steps(index)));
        }
        let scalar = |key: (u32, u64)| self.model.scalars.iter().find(|s| (s.arg, s.offset) == key);
        found.into_iter().filter_map(|(key, steps)| Some((argument(scalar(key)?), steps))).collect()
    }

    /// Returns of how many values an index is.
    fn steps(&self, index: Atom) -> Option<Quantity> {
        match index {
            Atom::Id(Id::Global, d) => Some(Quantity::GlobalSize(d)),
            Atom::Id(Id::Local, d) => Some(Quantity::LocalSize(d)),
            Atom::Id(Id::Group, d) => Some(Quantity::Groups(d)),
            Atom::Arg(arg, offset) => {
                // An index that is given: any value is one step from the end.
                let scalar = self.model.scalars.iter().find(|s| (s.arg, s.offset) == (arg, offset))?;
                Some(quantity(scalar).plus(Quantity::Constant(1)))
            }
            Atom::Value(value) => {
                let instruction = self.summary.program.instruction(value)?;
                if matches!(instruction.op, Op::Binary(Opcode::LLVMURem | Opcode::LLVMSRem)) {
                    return self.simple(&self.summary.symbols.poly(*instruction.operands.get(1)?));
                }
                self.summary.bounds.get(&index)?.iter().find_map(|bound| self.simple(bound))
            }
            Atom::Id(..) => None,
        }
    }

    /// A scalar or a constant.
    fn simple(&self, poly: &Poly) -> Option<Quantity> {
        if let Some(n) = poly.as_constant() {
            return i64::try_from(n).ok().filter(|n| *n > 0).map(Quantity::Constant);
        }
        let (product, 1) = poly.0.first_key_value()? else { return None };
        let ([Atom::Arg(arg, offset)], 1) = (&product[..], poly.0.len()) else { return None };
        self.model.scalars.iter().find(|s| (s.arg, s.offset) == (*arg, *offset)).map(quantity)
    }
}

/// Whether a condition says nothing: no row is shorter than itself.
fn always_holds(condition: &Condition) -> bool {
    match condition {
        Condition::AtLeast(a, b) => a == b,
        Condition::Strides { outer, inner, .. } => outer == inner,
        _ => false,
    }
}

/// The constant of a condition: of two conditions that differ in it alone, that with the smaller one is weaker.
fn constant(condition: &Condition) -> i64 {
    match condition {
        Condition::MultipleOf(_, Quantity::Constant(n))
        | Condition::Equal(_, Quantity::Constant(n))
        | Condition::AtLeast(Quantity::GlobalSize(_), Quantity::Constant(n)) => *n,
        _ => 0,
    }
}

fn argument(scalar: &ScalarModel) -> ScalarArgument {
    ScalarArgument { position: scalar.arg, offset: scalar.offset, name: scalar.name.clone() }
}

fn quantity(scalar: &ScalarModel) -> Quantity {
    Quantity::Scalar(argument(scalar))
}

fn strides(outer: &ScalarModel, inner: &ScalarModel, extent: Quantity) -> Condition {
    Condition::Strides { outer: quantity(outer), inner: quantity(inner), extent }
}
