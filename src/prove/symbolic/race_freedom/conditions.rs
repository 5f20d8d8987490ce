//! Conditions on launches as facts, and those that are tried where a proof needs one.

use std::collections::BTreeSet;

use kassay_model::condition::{Condition, IndexBuffer, Quantity};
use kassay_model::interface::{ArgKind, HeldIndex, Scalar, Type};

use super::kernel::Kernel;
use super::launch::Launch;
use super::scalars;
use crate::program::ids::{Id, id_of};
use crate::program::{Kind, Op, Region};
use crate::solve::integers::{Fact, Integers, Polynomial};

/// Largest number of conditions of each kind that several scalars may be part of.
const MAX_OF_A_KIND: usize = 40;
/// Largest number of the code that is tried as a size.
const MAX_SIZE: i64 = 1 << 24;
/// Least number of the code that is tried as a limit of the global size.
const LEAST_GLOBAL: i64 = 64;

/// Largest number of elements of a row that a work-item may be meant to have, and how many such numbers are tried.
const MOST_ELEMENTS_EACH: i64 = 16;
const MAX_FACTORS: usize = 4;
/// Most numbers of the code, and scalars, that are tried as limits of each other.
const MAX_SMALL: usize = 6;
/// By how much limits of scalars are less plain than they are weak.
const OF_LIMITS: u32 = 65;

/// The condition as a fact, where it is one about sizes and scalars.
pub fn fact(condition: &Condition, kernel: &Kernel<'_>, launch: &Launch, integers: &mut Integers) -> Option<Fact> {
    let value = |quantity: &Quantity, integers: &mut Integers| number(quantity, kernel, launch, integers);
    Some(match condition {
        Condition::AtLeast(a, b) => {
            let (a, b) = (value(a, integers)?, value(b, integers)?);
            integers.at_most(&b, &a)
        }
        Condition::AtMost(a, b) => {
            let (a, b) = (value(a, integers)?, value(b, integers)?);
            integers.at_most(&a, &b)
        }
        Condition::Equal(a, b) => {
            let (a, b) = (value(a, integers)?, value(b, integers)?);
            integers.equal(&a, &b)
        }
        Condition::Different(a, b) => {
            let (a, b) = (value(a, integers)?, value(b, integers)?);
            integers.equal(&a, &b).negated()
        }
        Condition::Strides { outer, inner, extent } => {
            let (outer, inner, extent) = (value(outer, integers)?, value(inner, integers)?, value(extent, integers)?);
            let covered = integers.multiply(&inner, &extent);
            integers.at_most(&covered, &outer)
        }
        Condition::Distinct(buffer) => {
            let elements = elements(kernel, buffer)?;
            Fact::all(integers.injective(|name| name == elements))
        }
        Condition::Apart(buffer) => integers.bit(&apart(buffer.position)),
        Condition::Rising(buffer) => {
            let elements = elements(kernel, buffer)?;
            let is_signed = element(kernel, buffer.position)?.is_signed();
            Fact::all(integers.rising(|name| name == elements, is_signed))
        }
        Condition::MultipleOf(a, Quantity::Constant(n @ 1..)) => {
            let a = value(a, integers)?;
            let rest = integers.divide(&a, &Polynomial::constant(i128::from(*n))).1;
            integers.equal(&rest, &Polynomial::default())
        }
        Condition::All(several) => {
            let all: Option<Vec<Fact>> = several.iter().map(|c| fact(c, kernel, launch, integers)).collect();
            Fact::all(all?)
        }
        _ => return None,
    })
}

/// The value of a quantity as instructions have it: unsigned scalars are the signed numbers of their bits.
pub fn as_encoded(
    quantity: &Quantity,
    kernel: &Kernel<'_>,
    launch: &Launch,
    integers: &mut Integers,
) -> Option<Polynomial> {
    match quantity {
        Quantity::Scalar(scalar) => scalars::signed(scalar, kernel, integers).map(|(value, _)| value),
        _ => number(quantity, kernel, launch, integers),
    }
}

/// The value of a quantity, where it is an integer of the launch.
pub fn number(
    quantity: &Quantity,
    kernel: &Kernel<'_>,
    launch: &Launch,
    integers: &mut Integers,
) -> Option<Polynomial> {
    Some(match quantity {
        Quantity::Constant(n) => Polynomial::constant(i128::from(*n)),
        Quantity::Scalar(scalar) => {
            let (value, bits) = scalars::signed(scalar, kernel, integers)?;
            match scalars::is_unsigned(kernel, scalar) {
                true => integers.unsigned_value(&value, bits),
                false => value,
            }
        }
        Quantity::GlobalSize(d) => launch.size(Id::GlobalSize, usize::from(*d)).clone(),
        Quantity::LocalSize(d) => launch.size(Id::LocalSize, usize::from(*d)).clone(),
        Quantity::Groups(d) => launch.size(Id::Groups, usize::from(*d)).clone(),
        Quantity::Sum(a, b) => {
            let (a, b) = (number(a, kernel, launch, integers)?, number(b, kernel, launch, integers)?);
            integers.add(&a, &b)
        }
        Quantity::Product(a, b) => {
            let (a, b) = (number(a, kernel, launch, integers)?, number(b, kernel, launch, integers)?);
            integers.multiply(&a, &b)
        }
    })
}

/// Numbers of elements of the arrays that are indexed.
fn extents_of_arrays(kernel: &Kernel<'_>) -> BTreeSet<i64> {
    let mut all = BTreeSet::new();
    for (_, instruction) in kernel.program.instructions() {
        if let Op::Address { steps, .. } = &instruction.op {
            all.extend(steps.iter().filter_map(|step| i64::try_from(step.extent?).ok()));
        }
    }
    all
}

/// Numbers of the code that may be meant as sizes.
fn literals(kernel: &Kernel<'_>) -> Vec<i64> {
    let mut all = BTreeSet::new();
    for (_, instruction) in kernel.program.instructions() {
        if !kernel.is_relevant(instruction.result) || matches!(instruction.op, Op::Call(..)) {
            continue;
        }
        for operand in &instruction.operands {
            all.extend(kernel.program.constant(*operand));
        }
    }
    all.extend(extents_of_arrays(kernel));
    all.into_iter().filter(|n| (2..=MAX_SIZE).contains(n)).collect()
}

/// What makes a launch of a model: the sizes of groups, how many there are, and the scalars that matter.
pub fn quantities(kernel: &Kernel<'_>, launch: &Launch, integers: &mut Integers) -> Vec<(Quantity, Polynomial)> {
    let dimensions = (0..3u8).filter(|d| kernel.dimensions[usize::from(*d)]);
    let sizes = dimensions.flat_map(|d| [Quantity::LocalSize(d), Quantity::Groups(d)]);
    let all = sizes.chain(scalars::relevant(kernel));
    all.filter_map(|quantity| Some((quantity.clone(), number(&quantity, kernel, launch, integers)?))).collect()
}

/// The integers that a buffer holds, if they are.
fn element(kernel: &Kernel<'_>, position: u32) -> Option<Scalar> {
    match kernel.interface.args.get(position as usize)?.kind {
        ArgKind::Buffer { element: Some(Type::Scalar(scalar)), .. } if !scalar.is_float() => Some(scalar),
        _ => None,
    }
}

/// The name of the function that loads of elements of a buffer are, if nobody writes it.
fn elements(kernel: &Kernel<'_>, buffer: &IndexBuffer) -> Option<String> {
    let bits = 8 * element(kernel, buffer.position)?.size();
    Some(format!("contents of {:?}, {bits} bits", Region::Argument(buffer.position)))
}

/// The name of the fact that what the pointers in a buffer point to does not overlap.
fn apart(position: u32) -> String {
    format!("pointers in {:?} lead apart", Region::Argument(position))
}

/// What follows from two places in `region` being one: if pointers in a buffer lead there, and lead apart, it is the
/// same pointer that led there.
pub fn same_pointer(kernel: &Kernel<'_>, region: Region, places: [&Polynomial; 2], integers: &mut Integers) -> Fact {
    let leads_there = |index: &&HeldIndex| Region::Argument(index.into) == region && !index.leads_back();
    let Some(index) = kernel.interface.indices.iter().find(leads_there) else { return Fact::True };
    let name = format!("contents of {:?}, 64 bits", Region::Argument(index.parameter));
    let pointers = places.map(|place| integers.argument_of(&name, place, index.unit.into()));
    let [Some(a), Some(b)] = pointers else { return Fact::True };
    integers.bit(&apart(index.parameter)).implies(&integers.equal(&a, &b))
}

/// Buffers whose pointers lead to memory that the kernel writes.
fn pointer_buffers(kernel: &Kernel<'_>) -> BTreeSet<u32> {
    let leads = kernel.interface.indices.iter().filter(|index| !index.leads_back());
    leads.filter(|index| kernel.written.contains(&Region::Argument(index.into))).map(|index| index.parameter).collect()
}

/// Buffers of integers whose contents addresses depend on.
fn index_buffers(kernel: &Kernel<'_>) -> Vec<IndexBuffer> {
    let program = kernel.program;
    let mut positions = BTreeSet::new();
    for (_, instruction) in program.instructions() {
        let Kind::Int(bits @ 8..=64) = program.shape(instruction.result).kind else { continue };
        if !matches!(instruction.op, Op::Load) || !kernel.is_relevant(instruction.result) {
            continue;
        }
        for region in kernel.regions(instruction.operands[0]) {
            if let Region::Argument(position) = region
                && !kernel.written.contains(&region)
                && element(kernel, position).is_some_and(|scalar| 8 * scalar.size() == u64::from(bits))
            {
                positions.insert(position);
            }
        }
    }
    let buffer = |position: u32| {
        let arg = kernel.interface.args.get(position as usize)?;
        matches!(arg.kind, ArgKind::Buffer { .. }).then(|| IndexBuffer { position, name: arg.display_name() })
    };
    positions.into_iter().filter_map(buffer).collect()
}

/// That a launch has one work-group.
pub fn one_group(kernel: &Kernel<'_>) -> Condition {
    let one = |d: u8| Condition::Equal(Quantity::Groups(d), Quantity::Constant(1));
    Condition::all((0..3u8).filter(|d| kernel.dimensions[usize::from(*d)]).map(one))
}

/// Conditions that are tried, the weakest and plainest first.
pub fn candidates(kernel: &Kernel<'_>) -> Vec<Condition> {
    let scalars = scalars::relevant(kernel);
    let dimensions: Vec<u8> = (0..3u8).filter(|d| kernel.dimensions[usize::from(*d)]).collect();
    let mut all = Vec::new();
    for n in &scalars {
        all.extend([0, 1].map(|least| Condition::AtLeast(n.clone(), Quantity::Constant(least))));
        if let Quantity::Scalar(scalar) = n
            && scalars::is_unsigned(kernel, scalar)
        {
            all.push(Condition::AtMost(n.clone(), Quantity::Constant(i64::from(i32::MAX))));
        }
        for d in &dimensions {
            for size in [Quantity::GlobalSize(*d), Quantity::LocalSize(*d)] {
                all.push(Condition::AtLeast(n.clone(), size.clone()));
                all.push(Condition::Equal(n.clone(), size));
            }
        }
    }
    // Work-items that each have several elements of a row.
    let several: Vec<i64> =
        literals(kernel).into_iter().filter(|n| *n <= MOST_ELEMENTS_EACH).take(MAX_FACTORS).collect();
    for (n, factor) in scalars.iter().flat_map(|n| several.iter().map(move |factor| (n, *factor))) {
        for d in &dimensions {
            let covered = Quantity::Constant(factor).times(Quantity::GlobalSize(*d));
            all.push(Condition::AtLeast(n.clone(), covered));
        }
    }
    // Parts of a buffer, one behind the other.
    let behind =
        |a: &Quantity, b: &Quantity, d: u8| Condition::AtLeast(a.clone(), b.clone().plus(Quantity::GlobalSize(d)));
    let parts = scalars.iter().flat_map(|a| scalars.iter().filter(move |b| *b != a).map(move |b| (a, b)));
    let parts = parts.flat_map(|(a, b)| dimensions.iter().map(move |d| behind(a, b, *d)));
    all.extend(parts.take(MAX_OF_A_KIND));
    let apart = scalars.iter().enumerate().flat_map(|(i, a)| scalars[i + 1..].iter().map(move |b| (a, b)));
    all.extend(apart.map(|(a, b)| Condition::Different(a.clone(), b.clone())).take(MAX_OF_A_KIND));
    let pairs = scalars.iter().flat_map(|a| scalars.iter().filter(move |b| *b != a).map(move |b| (a, b)));
    all.extend(pairs.clone().map(|(a, b)| Condition::AtLeast(a.clone(), b.clone())).take(MAX_OF_A_KIND));
    let extents = || scalars.iter().cloned().chain(dimensions.iter().map(|d| Quantity::GlobalSize(*d)));
    let strides = pairs.flat_map(|(outer, inner)| {
        let others = extents().filter(move |extent| extent != outer && extent != inner);
        others.map(|extent| Condition::Strides { outer: outer.clone(), inner: inner.clone(), extent })
    });
    all.extend(strides.take(MAX_OF_A_KIND));
    for d in &dimensions {
        if kernel.interface.required_local.is_none() {
            // The greatest limit is the weakest.
            for size in extents_of_arrays(kernel).into_iter().rev() {
                all.push(Condition::AtMost(Quantity::LocalSize(*d), Quantity::Constant(size)));
            }
            // Where only the group's id is read, groups are mostly flat.
            let flat = (dimensions.len() > 1 && !tells_items_apart(kernel, *d)).then_some(1);
            for size in flat.into_iter().chain(literals(kernel)) {
                all.push(Condition::Equal(Quantity::LocalSize(*d), Quantity::Constant(size)));
            }
        }
        for size in literals(kernel).into_iter().rev().filter(|n| *n >= LEAST_GLOBAL) {
            all.push(Condition::AtMost(Quantity::GlobalSize(*d), Quantity::Constant(size)));
        }
        all.push(Condition::Equal(Quantity::Groups(*d), Quantity::Constant(1)));
    }
    if let [x, y, ..] = dimensions[..] {
        // Rows and columns have limits of their own.
        let limits = |d: u8| extents_of_arrays(kernel).into_iter().rev().map(move |n| (d, n)).collect::<Vec<_>>();
        let at_most = |(d, n): (u8, i64)| Condition::AtMost(Quantity::LocalSize(d), Quantity::Constant(n));
        let of_both = limits(x).into_iter().flat_map(|a| limits(y).into_iter().map(move |b| (a, b)));
        let of_both = of_both.map(|(a, b)| Condition::all([at_most(a), at_most(b)]));
        all.extend(of_both.filter(|_| kernel.interface.required_local.is_none()).take(MAX_OF_A_KIND));
        let covers = |n: &Quantity, d: u8| Condition::AtLeast(n.clone(), Quantity::GlobalSize(d));
        let of_both = scalars.iter().flat_map(|a| scalars.iter().map(move |b| (a, b)));
        all.extend(of_both.map(|(a, b)| Condition::all([covers(a, x), covers(b, y)])).take(MAX_OF_A_KIND));
        all.push(Condition::Equal(Quantity::LocalSize(x), Quantity::LocalSize(y)));
        all.push(Condition::Equal(Quantity::GlobalSize(x), Quantity::GlobalSize(y)));
    }
    let named = |position: u32| {
        Some(IndexBuffer { position, name: kernel.interface.args.get(position as usize)?.display_name() })
    };
    all.extend(pointer_buffers(kernel).into_iter().filter_map(named).map(Condition::Apart));
    all.extend(index_buffers(kernel).into_iter().map(Condition::Rising));
    all.extend(index_buffers(kernel).into_iter().map(Condition::Distinct));
    all.extend(small_numbers(kernel, &scalars, &dimensions));
    let unsigned = |condition: &Condition| match condition {
        Condition::AtLeast(Quantity::Scalar(scalar), other) if scalars::is_unsigned(kernel, scalar) => {
            let n = Quantity::Scalar(scalar.clone());
            let has_sign = !matches!(other, Quantity::Constant(_));
            let at_most = Condition::AtMost(n, Quantity::Constant(i64::from(i32::MAX)));
            has_sign.then(|| Condition::all([condition.clone(), at_most]))
        }
        _ => None,
    };
    let with_limits: Vec<Condition> = all.iter().filter_map(unsigned).take(MAX_OF_A_KIND).collect();
    all.extend(with_limits);
    all.sort_by_key(strength);
    all
}

/// Whether the kernel reads ids of work-items in a dimension.
fn tells_items_apart(kernel: &Kernel<'_>, dimension: u8) -> bool {
    let program = kernel.program;
    program.instructions().any(|(_, instruction)| match &instruction.op {
        Op::Call(_, base) => match id_of(base) {
            Some(Id::Global | Id::Local) => {
                instruction.operands.first().and_then(|d| program.constant(*d)) == Some(dimension.into())
            }
            _ => base.ends_with("_linear_id"),
        },
        _ => false,
    })
}

/// Conditions that numbers of the code are limits: `radius <= 2`, `get_local_size(0) >= 4`, or multiples:
/// `get_local_size(0) % 2 == 0`.
fn small_numbers(kernel: &Kernel<'_>, scalars: &[Quantity], dimensions: &[u8]) -> Vec<Condition> {
    let small: Vec<i64> = literals(kernel).into_iter().filter(|n| *n < LEAST_GLOBAL).take(MAX_SMALL).collect();
    let mut all = Vec::new();
    for n in &small {
        let number = || Quantity::Constant(*n);
        for d in dimensions {
            if kernel.interface.required_local.is_none() {
                all.push(Condition::AtLeast(Quantity::LocalSize(*d), number()));
                all.push(Condition::MultipleOf(Quantity::LocalSize(*d), number()));
            }
        }
    }
    // The greatest limit is the weakest.
    for n in small.iter().rev() {
        let number = || Quantity::Constant(*n);
        all.extend(scalars.iter().take(MAX_SMALL).map(|scalar| Condition::AtMost(scalar.clone(), number())));
        // Components, layers.
        let few = dimensions.iter().filter(|d| **d > 0 && *n <= MOST_ELEMENTS_EACH);
        all.extend(few.map(|d| Condition::AtMost(Quantity::GlobalSize(*d), number())));
    }
    all
}

/// The order in which conditions are tried: a scalar that is at most a number of the code is no plain one.
fn strength(condition: &Condition) -> u32 {
    let is_limit = match condition {
        Condition::AtMost(Quantity::Scalar(_), Quantity::Constant(n)) => *n < LEAST_GLOBAL,
        _ => false,
    };
    match condition {
        // That an unsigned number is no negative one of so many bits says little.
        Condition::All(parts) => match &parts[..] {
            [plain, Condition::AtMost(_, Quantity::Constant(most))] if *most == i64::from(i32::MAX) => {
                plain.strength() + 1
            }
            _ => condition.strength(),
        },
        // That a group is as large as something is weaker.
        Condition::MultipleOf(Quantity::LocalSize(_), _) => OF_LIMITS,
        _ => condition.strength() + if is_limit { OF_LIMITS } else { 0 },
    }
}

/// Whether the condition speaks of products of what a launch gives.
pub fn has_products(condition: &Condition) -> bool {
    matches!(condition, Condition::Strides { .. })
}
