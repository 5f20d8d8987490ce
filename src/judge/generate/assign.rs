//! Chooses the scalars of a launch, from its sizes and the roles that the kernel gives them.

use std::collections::HashMap;

use kassay_model::interface::{ArgKind, Scalar};
use kassay_suite::scalar_layout;
use serde::{Deserialize, Serialize};

use super::access_summary::AccessSummary;
use super::fill::mix;
use super::geometry::Geometry;
use super::intervals::IntervalAnalysis;
use super::model::{KernelModel, Role, ScalarModel};
use super::polynomial::EVERY;

/// A scalar's value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub enum Number {
    Integer(i128),
    Float(f64),
}

/// A number as journals store it: floats as bits, because JSON has no infinities.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stored {
    Integer(i128),
    FloatBits(u64),
}

impl From<Number> for Stored {
    fn from(number: Number) -> Stored {
        match number {
            Number::Integer(n) => Stored::Integer(n),
            Number::Float(x) => Stored::FloatBits(x.to_bits()),
        }
    }
}

impl From<Stored> for Number {
    fn from(stored: Stored) -> Number {
        match stored {
            Stored::Integer(n) => Number::Integer(n),
            Stored::FloatBits(bits) => Number::Float(f64::from_bits(bits)),
        }
    }
}

/// Scalars of a launch, by position of the argument and byte offset within it.
pub type Scalars = HashMap<(u32, u64), Number>;

/// Relation of lengths to the sizes of the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Lengths as the launch's sizes require.
    Even,
    /// Slightly shorter lengths, so that some work-items have nothing to do.
    Uneven,
    /// Lengths of 1.
    Least,
}

const COUNTS: [i128; 6] = [5, 8, 3, 1, 2, 0];
const ROWS: [i128; 5] = [5, 8, 3, 1, 16];
const SMALL: [i128; 6] = [1, 2, 3, 0, 5, 7];
const SCALES: [f64; 4] = [1.0, 0.5, 2.0, 1.5];
const FLOATS: [f64; 7] = [0.5, 1.0, -1.25, 2.0, 0.0, 100.0, -3.0];

/// Iterations after which interdependent lengths are left as they are.
const ROUNDS: usize = 4;

/// Greater pitches are not asked for.
const LARGEST_PITCH: i128 = 1 << 20;

/// Returns an element of a list, a different one for each variant.
fn pick<T: Copy>(from: &[T], variant: u64) -> T {
    from[(variant % from.len() as u64) as usize]
}

/// Returns the scalars of launch number `variant`.
pub fn scalars(
    model: &KernelModel,
    summary: &AccessSummary<'_>,
    geometry: &Geometry,
    style: Style,
    variant: u64,
    seed: u64,
) -> Scalars {
    let mut found = Scalars::new();
    let mut divisors = 0u64..;
    for (i, scalar) in (0u64..).zip(&model.scalars) {
        // Among its kind, so that products of several divisors stay small.
        let ordinal = if scalar.role == Role::Divisor { divisors.next().unwrap_or(i) } else { i };
        let number = match scalar.list {
            Some((list, index)) => {
                let (_, most) = scalar_layout::range(scalar.scalar).unwrap_or((0, i128::from(u32::MAX)));
                Number::Integer(i128::from(list.number(index, geometry.range.items())).min(most))
            }
            None => unconstrained_value(scalar, ordinal, variant, mix(seed, variant * 64 + i)),
        };
        found.insert((scalar.arg, scalar.offset), number);
    }
    for _ in 0..ROUNDS {
        let before = found.clone();
        for scalar in model.scalars.iter().filter(|scalar| scalar.list.is_none()) {
            if let Some((soft, hard)) = required_values(scalar, summary, geometry, &found) {
                let (_, most) = scalar_layout::range(scalar.scalar).unwrap_or((0, i128::from(u32::MAX)));
                let further = if scalar.lower_bounds.iter().any(|d| d.is_start) { pick(&COUNTS, variant) } else { 0 };
                let value = match style {
                    Style::Even => (soft + further).max(hard),
                    Style::Uneven => (soft - (soft / 4).clamp(1, 3)).max(1).max(hard),
                    Style::Least => hard.max(1),
                };
                let value = value.clamp(i128::from(scalar.divides), most);
                found.insert((scalar.arg, scalar.offset), Number::Integer(value));
            }
        }
        align(model, &mut found);
        limit(model, summary, geometry, &mut found);
        if found == before {
            break;
        }
    }
    found
}

/// Looks up an integer scalar; `None` for floats.
pub fn integer(known: &Scalars, arg: u32, offset: u64) -> Option<i128> {
    match known.get(&(arg, offset)) {
        Some(Number::Integer(n)) => Some(*n),
        _ => None,
    }
}

/// Raises steps in bytes to multiples of the elements.
pub fn align(model: &KernelModel, known: &mut Scalars) {
    for scalar in model.scalars.iter().filter(|scalar| scalar.multiple_of > 1) {
        if let Some(Number::Integer(n)) = known.get_mut(&(scalar.arg, scalar.offset)) {
            *n += (-*n).rem_euclid(scalar.multiple_of);
        }
    }
}

/// Lowers integers to what arrays of fixed size leave room for.
pub fn limit(model: &KernelModel, summary: &AccessSummary<'_>, geometry: &Geometry, known: &mut Scalars) {
    for scalar in &model.scalars {
        if let (Some(most), Some(Number::Integer(n))) =
            (upper_limit(scalar, summary, geometry, known), known.get_mut(&(scalar.arg, scalar.offset)))
        {
            *n = (*n).min(most.max(0));
        }
    }
}

/// Returns the greatest value that arrays of fixed size leave room for.
fn upper_limit(
    scalar: &ScalarModel,
    summary: &AccessSummary<'_>,
    geometry: &Geometry,
    known: &Scalars,
) -> Option<i128> {
    let value = |arg, offset| integer(known, arg, offset);
    let intervals = intervals(summary, geometry, &value);
    let room = |c: &super::model::UpperBound| (c.most - intervals.of(&c.rest).1).div_euclid(c.coefficient);
    scalar.upper_bounds.iter().map(room).min()
}

/// Returns the interval analysis for a launch's sizes and scalars.
pub fn intervals<'s, 'p>(
    summary: &'s AccessSummary<'p>,
    geometry: &Geometry,
    scalars: &'s dyn Fn(u32, u64) -> Option<i128>,
) -> IntervalAnalysis<'s, 'p> {
    IntervalAnalysis {
        symbols: &summary.symbols,
        bounds: &summary.bounds,
        range: geometry.resolved(),
        scalars,
        contents: Some((0, 8)),
        cache: Default::default(),
    }
}

/// Returns the least value that satisfies the lower bounds that branches check, and the least that satisfies those that
/// nothing checks; `None` if there are no lower bounds.
fn required_values(
    scalar: &ScalarModel,
    summary: &AccessSummary<'_>,
    geometry: &Geometry,
    known: &Scalars,
) -> Option<(i128, i128)> {
    let value = |arg, offset| integer(known, arg, offset);
    let intervals = intervals(summary, geometry, &value);
    if scalar.lower_bounds.is_empty() || scalar.scalar.is_float() {
        return None;
    }
    let mut least = (0, 0);
    for bound in &scalar.lower_bounds {
        let room = intervals.of(&bound.extent).1 + 1 - intervals.of(&bound.rest).0;
        let asks = room.div_euclid(bound.coefficient) + i128::from(room.rem_euclid(bound.coefficient) != 0);
        if bound.is_hard {
            // So much is asked for where what is accessed in a row is not known.
            least.1 = Some(asks).filter(|asks| *asks <= LARGEST_PITCH).unwrap_or(0).max(least.1);
        } else {
            least.0 = asks.clamp(0, 1 << 20).max(least.0);
        }
    }
    Some(least)
}

/// Returns a value for a scalar on which no lower bound is imposed.
fn unconstrained_value(scalar: &ScalarModel, ordinal: u64, variant: u64, random: u64) -> Number {
    if scalar.scalar.is_float() {
        let among = if scalar.is_positive { &SCALES[..] } else { &FLOATS[..] };
        return Number::Float(pick(among, variant + ordinal));
    }
    let (least, greatest) = scalar_layout::range(scalar.scalar).unwrap_or((0, 255));
    let known: Vec<i128> =
        scalar.dictionary.iter().copied().filter(|n| *n >= least && *n <= greatest && n.abs() <= 1 << 20).collect();
    let number = match scalar.role {
        Role::Count => pick(&COUNTS, variant),
        Role::RowLength => pick(&ROWS, variant),
        Role::Index => pick(&[0, 1, 2], variant),
        // Differences of divisors are often divisors, too, so divisors differ.
        Role::Divisor => pick(&[1, 2, 3, 7], variant + 1) + 8 * i128::from(ordinal),
        Role::Shift => pick(&[1, 3, 0, 4, 7], variant),
        Role::Flag => {
            let mut all = vec![1, 0];
            all.extend(known.iter().filter(|n| **n != 0 && **n != 1));
            pick(&all, variant)
        }
        _ if !known.is_empty() && variant % 2 == 1 => pick(&known, variant / 2),
        _ => pick(&SMALL, variant) + i128::from(random % 3) + 2 * i128::from(ordinal),
    };
    let number = if scalar.divides && number == 0 { 1 } else { number };
    Number::Integer(number.clamp(least, greatest))
}

/// Returns the bytes of a by-value argument.
pub fn bytes(model: &KernelModel, position: u32, scalars: &Scalars) -> Vec<u8> {
    let ArgKind::Value(ty) = &model.interface.args[position as usize].kind else { return Vec::new() };
    let mut out = Vec::new();
    for leaf in scalar_layout::leaves(ty) {
        out.resize(leaf.offset as usize, 0);
        put(leaf.scalar, scalars.get(&(position, leaf.offset)).copied().unwrap_or(Number::Integer(0)), &mut out);
    }
    out.resize(ty.size() as usize, 0);
    out
}

/// Returns the scalars in the buffer at `position`: offsets, and bytes.
pub fn placed(model: &KernelModel, position: u32, scalars: &Scalars) -> Vec<(u64, Vec<u8>)> {
    let mine = model.scalars.iter().filter(|s| s.in_buffer && s.arg == position && s.offset != EVERY);
    let bytes = mine.filter_map(|s| {
        let mut out = Vec::new();
        put(s.scalar, *scalars.get(&(position, s.offset))?, &mut out);
        Some((s.offset, out))
    });
    bytes.collect()
}

/// Appends a number in the representation of `scalar`.
pub(super) fn put(scalar: Scalar, number: Number, out: &mut Vec<u8>) {
    match number {
        Number::Integer(n) => super::fill::push(scalar, n, out),
        Number::Float(x) => super::fill::push_float(scalar, x, out),
    }
}
