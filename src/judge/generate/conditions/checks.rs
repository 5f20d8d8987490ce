//! Finds what checks and borders in a kernel's code take for granted: that a length is a multiple of what each
//! work-item has, that a row ends before the next one, and that a launch is larger than its border.

use std::collections::BTreeSet;

use kassay_ir::llvm::Opcode;
use kassay_model::interface::{ArgKind, Interface};
use kassay_prove::program::{Definition, Kind, Op, Region, ValueId, signed};

use crate::generate::access_summary::{Access, AccessSummary};
use crate::generate::fill::gcd;
use crate::generate::pitches;
use crate::generate::polynomial::{Atom, Id, Poly, id_of};

/// The greatest constant that is taken for the width of a border.
const LARGEST_BORDER: i64 = 16;
/// The least length of a row.
const LEAST_ROW: i128 = 4;
/// The greatest number of elements of a work-item of which a length is taken for a multiple.
const LARGEST_WHOLE: i128 = 64;

/// Returns the scalars below which a check keeps only the first of several elements that an access of the given ones
/// reaches, and of what these have to be multiples so that the others are below them, too: `if (4 * i < n)` before an
/// access to the elements `4 * i` to `4 * i + 3`.
pub(super) fn wholes(
    summary: &AccessSummary<'_>,
    interface: &Interface,
    is_meant: impl Fn(&Access) -> bool,
) -> BTreeSet<(Atom, i64)> {
    let mut found = BTreeSet::new();
    for access in summary.accesses.iter().filter(|access| is_meant(access)) {
        let Region::Argument(position) = access.region else { continue };
        let element = interface.args.get(position as usize).and_then(|arg| match &arg.kind {
            ArgKind::Buffer { element: Some(element), .. } => Some(i128::from(element.size())),
            _ => None,
        });
        let Some(element) = element.filter(|element| *element > 0) else { continue };
        for fact in summary.facts.blocks[access.block].iter().filter(|fact| !fact.is_equal) {
            let steps = fact.lhs.0.iter().filter(|(product, _)| !product.is_empty());
            let steps = steps.map(|(_, n)| u64::try_from(n.unsigned_abs()).unwrap_or(1));
            let Some(whole) = steps.reduce(gcd).map(i128::from) else { continue };
            if !(2..=LARGEST_WHOLE).contains(&whole) {
                continue;
            }
            // What the check is about: the place in a row, perhaps.
            let is_checked = |product: &Vec<Atom>| product.is_empty() || fact.lhs.0.contains_key(product);
            let along = access.offset.0.iter().filter(|(product, _)| is_checked(product));
            let along = Poly(along.map(|(product, n)| (product.clone(), *n)).collect());
            let Some(apart) = along.sub(&fact.lhs.times(element)).as_constant() else { continue };
            let elements = (apart + i128::from(access.bytes) + element - 1) / element;
            let Ok(multiple) = i64::try_from(whole) else { continue };
            if (2..=whole).contains(&elements) {
                let scalars = fact.rhs.0.iter().filter(|(_, n)| **n % whole != 0);
                found.extend(scalars.filter_map(|(product, _)| match product[..] {
                    [scalar @ Atom::Arg(..)] => Some((scalar, multiple)),
                    _ => None,
                }));
            }
        }
    }
    found
}

/// Returns the scalars up to which a check lets the places in a row of literal length go, and the most that they may be
/// so that no work-item writes into the next row: `if (x < 16 + border)` before a write to `row * 20 + x`.
pub(super) fn ends_of_rows(summary: &AccessSummary<'_>) -> BTreeSet<(Atom, i64)> {
    let mut found = BTreeSet::new();
    for offset in pitches::offsets(summary).iter().filter(|offset| offset.is_written) {
        let single = |product: &Vec<Atom>| match product[..] {
            [atom @ Atom::Id(Id::Global | Id::Local | Id::Group, _)] => Some(atom),
            _ => None,
        };
        let ids: Vec<(Atom, i128)> =
            offset.poly.0.iter().filter_map(|(product, n)| Some((single(product)?, *n))).collect();
        for (column, step) in ids.iter().filter(|(_, step)| *step > 0) {
            let rows = ids.iter().map(|(_, n)| n.abs()).filter(|n| *n > *step && n % step == 0);
            let Some(length) = rows.map(|n| n / step).min().filter(|n| *n >= LEAST_ROW) else { continue };
            let first = (offset.poly.constant_term() / step).rem_euclid(length);
            for fact in summary.facts.blocks[offset.block].iter().filter(|fact| !fact.is_equal) {
                let Some((1, before)) = fact.lhs.linear_in(*column) else { continue };
                let most = fact.rhs.sub(&before);
                let scalars = most.0.iter().filter_map(|(product, n)| match product[..] {
                    [scalar @ Atom::Arg(..)] if *n > 0 => Some((scalar, *n)),
                    _ => None,
                });
                for (scalar, n) in scalars {
                    let rest = most.linear_in(scalar).and_then(|(_, rest)| rest.as_constant());
                    let greatest = rest.map(|rest| (length - first - rest).div_euclid(n)).filter(|most| *most > 0);
                    found.extend(greatest.and_then(|most| i64::try_from(most).ok()).map(|most| (scalar, most)));
                }
            }
        }
    }
    found
}

/// Whether a check keeps ids from falling below the scalar, as at the border of an image.
pub(super) fn is_border(summary: &AccessSummary<'_>, scalar: Atom) -> bool {
    let is_id = |atom: Atom| matches!(atom, Atom::Id(Id::Global | Id::Local, _));
    summary.facts.all().any(|(_, fact)| {
        let is_alone = fact.lhs.linear_in(scalar).is_some_and(|(n, rest)| n == 1 && rest.as_constant().is_some());
        !fact.is_equal && is_alone && fact.rhs.atoms().any(is_id)
    })
}

/// Returns constants that are subtracted from the size of the launch, as widths of borders are.
pub(super) fn borders(summary: &AccessSummary<'_>) -> BTreeSet<i64> {
    let program = summary.program;
    let is_size = |value: ValueId| {
        let of_call = |base: &str| id_of(base) == Some(Id::GlobalSize);
        let asks = |source: ValueId| {
            program.instruction(source).is_some_and(|i| matches!(&i.op, Op::Call(_, base) if of_call(base)))
        };
        summary.sources(value).into_iter().any(asks)
    };
    let mut found = BTreeSet::new();
    for (_, instruction) in program.instructions() {
        let sign = match instruction.op {
            Op::Binary(Opcode::LLVMSub) => 1,
            Op::Binary(Opcode::LLVMAdd) => -1,
            _ => continue,
        };
        let [size, by] = instruction.operands[..] else { continue };
        let (Definition::Constant(lanes), Kind::Int(width)) = (&program.values[by as usize], program.shape(by).kind)
        else {
            continue;
        };
        let widths = lanes.iter().map(|lane| sign * signed(*lane, width));
        let widths: Vec<i64> = widths.filter(|n| (1..=LARGEST_BORDER).contains(n)).collect();
        if !widths.is_empty() && is_size(size) {
            found.extend(widths);
        }
    }
    found
}
