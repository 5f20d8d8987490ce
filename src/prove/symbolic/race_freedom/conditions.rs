//! Conditions on launches as facts, and those that are tried where a proof needs one.

use std::collections::BTreeSet;

use kassay_model::condition::{Condition, IndexBuffer, Quantity, ScalarArgument};
use kassay_model::interface::{ArgKind, Type};

use super::kernel::Kernel;
use super::launch::Launch;
use crate::program::ids::Id;
use crate::program::{Kind, Op, Region};
use crate::solve::integers::{Fact, Integers, Polynomial, Range};

/// Largest number of conditions of each kind that several scalars may be part of.
const MAX_OF_A_KIND: usize = 40;
/// Largest number of the code that is tried as a size.
const MAX_SIZE: i64 = 1 << 24;
/// Least number of the code that is tried as a limit of the global size.
const LEAST_GLOBAL: i64 = 64;

/// Largest number of elements of a row that a work-item may be meant to have, and how many such numbers are tried.
const MOST_ELEMENTS_EACH: i64 = 16;
const MAX_FACTORS: usize = 4;

/// The symbol of an integer of `bits` bits in an argument that is passed by value; `offset` is in bytes.
pub fn scalar_name(position: u32, offset: u64, bits: u32) -> String {
    format!("argument {position}+{offset}, {bits} bits")
}

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
            let start = format!("contents of {:?},", Region::Argument(buffer.position));
            Fact::all(integers.injective(|name| name.starts_with(&start)))
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
        Quantity::Scalar(scalar) => signed(scalar, kernel, integers).map(|(value, _)| value),
        _ => number(quantity, kernel, launch, integers),
    }
}

/// A scalar as the signed number of its bits, and how many they are.
fn signed(scalar: &ScalarArgument, kernel: &Kernel<'_>, integers: &mut Integers) -> Option<(Polynomial, u32)> {
    let param = *kernel.program.params.get(scalar.position as usize)?;
    let Kind::Int(bits @ 2..=64) = kernel.program.shape(param).kind else { return None };
    let name = scalar_name(scalar.position, scalar.offset, bits);
    Some((integers.symbol(&name, Range::signed(bits)), bits))
}

/// The value of a quantity, where it is an integer of the launch.
fn number(quantity: &Quantity, kernel: &Kernel<'_>, launch: &Launch, integers: &mut Integers) -> Option<Polynomial> {
    Some(match quantity {
        Quantity::Constant(n) => Polynomial::constant(i128::from(*n)),
        Quantity::Scalar(scalar) => {
            let (value, bits) = signed(scalar, kernel, integers)?;
            match is_unsigned(kernel, scalar.position) {
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

/// Whether the source calls an argument unsigned.
pub fn is_unsigned(kernel: &Kernel<'_>, position: u32) -> bool {
    let arg = kernel.interface.args.get(position as usize);
    arg.is_some_and(|a| matches!(&a.kind, ArgKind::Value(Type::Scalar(scalar)) if !scalar.is_signed()))
}

/// The scalars on which addresses, branches or barriers depend.
fn scalars(kernel: &Kernel<'_>) -> Vec<Quantity> {
    let program = kernel.program;
    let is_scalar = |position: &usize| {
        let value = program.params[*position];
        let shape = program.shape(value);
        kernel.is_relevant(value) && shape.is_int() && matches!(shape.kind, Kind::Int(8..=64))
    };
    let quantity = |position: usize| {
        let name = kernel.interface.args.get(position).map(|a| a.display_name());
        Quantity::scalar(position as u32, name.unwrap_or_else(|| position.to_string()))
    };
    (0..program.params.len()).filter(is_scalar).map(quantity).collect()
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
    let all = sizes.chain(scalars(kernel));
    all.filter_map(|quantity| Some((quantity.clone(), number(&quantity, kernel, launch, integers)?))).collect()
}

/// Buffers of integers whose contents addresses depend on.
fn index_buffers(kernel: &Kernel<'_>) -> Vec<IndexBuffer> {
    let program = kernel.program;
    let mut positions = BTreeSet::new();
    for (_, instruction) in program.instructions() {
        let is_integer = matches!(program.shape(instruction.result).kind, Kind::Int(8..=64));
        if !matches!(instruction.op, Op::Load) || !is_integer || !kernel.is_relevant(instruction.result) {
            continue;
        }
        for region in kernel.regions(instruction.operands[0]) {
            if let Region::Argument(position) = region
                && !kernel.written.contains(&region)
                && !kernel.is_by_value(position)
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
    let scalars = scalars(kernel);
    let dimensions: Vec<u8> = (0..3u8).filter(|d| kernel.dimensions[usize::from(*d)]).collect();
    let mut all = Vec::new();
    for n in &scalars {
        all.extend([0, 1].map(|least| Condition::AtLeast(n.clone(), Quantity::Constant(least))));
        if let Quantity::Scalar(scalar) = n
            && is_unsigned(kernel, scalar.position)
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
            for size in extents_of_arrays(kernel) {
                all.push(Condition::AtMost(Quantity::LocalSize(*d), Quantity::Constant(size)));
            }
            for size in literals(kernel) {
                all.push(Condition::Equal(Quantity::LocalSize(*d), Quantity::Constant(size)));
            }
        }
        for size in literals(kernel).into_iter().filter(|n| *n >= LEAST_GLOBAL) {
            all.push(Condition::AtMost(Quantity::GlobalSize(*d), Quantity::Constant(size)));
        }
        all.push(Condition::Equal(Quantity::Groups(*d), Quantity::Constant(1)));
    }
    if let [x, y, ..] = dimensions[..] {
        // Rows and columns have limits of their own.
        let limits = |d: u8| extents_of_arrays(kernel).into_iter().map(move |n| (d, n)).collect::<Vec<_>>();
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
    all.extend(index_buffers(kernel).into_iter().map(Condition::Distinct));
    all.sort_by_key(Condition::strength);
    all
}

/// Whether the condition speaks of products of what a launch gives.
pub fn has_products(condition: &Condition) -> bool {
    matches!(condition, Condition::Strides { .. })
}
