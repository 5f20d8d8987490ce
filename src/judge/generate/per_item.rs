//! Finds buffers that have a number for each work-item or group of a dimension: where its image of a batch begins, and
//! pitches of that.

use kassay_model::interface::{ArgKind, Interface};
use kassay_prove::program::Program;
use kassay_suite::scalar_layout;

use super::access_summary::AccessSummary;
use super::model::{LowerBound, Role, ScalarModel};
use super::pitches;
use super::polynomial::{Atom, EVERY, Each, Id, PerItem, Poly};

/// Summarises a program, and what its buffers have for each work-item.
pub fn summarise<'p>(program: &'p Program, interface: &Interface) -> AccessSummary<'p> {
    let held = &interface.indices;
    let summary = AccessSummary::new(program, PerItem::new(), held);
    let per_item = find(&summary);
    if per_item.is_empty() { summary } else { AccessSummary::new(program, per_item, held) }
}

/// Returns the scalars from which the elements of these buffers are made.
pub fn scalars(summary: &AccessSummary<'_>, interface: &Interface) -> Vec<ScalarModel> {
    let of = |position: u32| {
        let arg = interface.args.get(position as usize)?;
        let ArgKind::Buffer { element: Some(element), .. } = &arg.kind else { return None };
        let scalar = scalar_layout::dense_scalar(element).filter(|scalar| scalar_layout::range(*scalar).is_some())?;
        Some(ScalarModel {
            in_buffer: true,
            role: Role::RowLength,
            ..ScalarModel::new(position, EVERY, scalar, format!("each of {}", arg.display_name()))
        })
    };
    summary.symbols.per_item.keys().filter_map(|position| of(*position)).collect()
}

/// Returns the bounds of such a scalar: parts begin behind all that is written of the one before, and steps of a loop
/// that go from plane to plane are as long as a plane.
pub fn bounds(summary: &AccessSummary<'_>, position: u32) -> Vec<LowerBound> {
    let own = Atom::Arg(position, EVERY);
    let is_start = |product: &Vec<Atom>| {
        let is =
            |atom: &Atom| matches!(atom, Atom::Arg(p, EVERY) if summary.symbols.per_item.get(p) == Some(&Each::Start));
        product.iter().any(is)
    };
    let mut all = Vec::new();
    for offset in pitches::offsets(summary).iter().filter(|offset| offset.is_written) {
        for (product, coefficient) in offset.poly.0.iter().filter(|(product, n)| product.contains(&own) && **n > 0) {
            let is_counted = |atom: &Atom| matches!(atom, Atom::Value(v) if summary.program.is_counter(*v));
            let is_plane = product.len() == 2 && product.iter().any(is_counted);
            if !is_start(product) && !is_plane {
                continue;
            }
            let rest = offset.poly.0.iter().filter(|(other, _)| *other != product && !is_start(other));
            let rest = Poly(rest.map(|(other, n)| (other.clone(), *n)).collect());
            let extent = rest.add(&Poly::constant(i128::from(offset.bytes.max(1)) - 1));
            let coefficient = *coefficient;
            all.push(LowerBound { extent, coefficient, rest: Poly::default(), is_hard: true, is_start: false });
        }
    }
    all
}

/// Returns the buffers, and what their numbers are.
fn find(summary: &AccessSummary<'_>) -> PerItem {
    let mut found = PerItem::new();
    let mut others: Vec<u32> = Vec::new();
    for offset in pitches::offsets(summary).iter().filter(|offset| offset.is_written && !offset.is_coordinate()) {
        let is_of_another = |id: Atom| {
            let d = |atom: Atom| match atom {
                Atom::Id(Id::Global | Id::Group | Id::Local, d) => Some(d),
                _ => None,
            };
            // The id itself appears only through its number, and others tell places in the part apart.
            let ids: Vec<u8> = offset.poly.atoms().filter_map(d).collect();
            !ids.is_empty() && ids.iter().all(|of| Some(*of) != d(id))
        };
        for product in offset.poly.0.keys() {
            for atom in product {
                let Atom::Value(value) = *atom else { continue };
                let Some((position, id)) = summary.symbols.place_by_id(value) else { continue };
                // A row that is multiplied by a pitch is an index.
                let is_step = |other: &Atom| match other {
                    Atom::Id(..) => true,
                    Atom::Value(v) => summary.program.is_counter(*v),
                    Atom::Arg(..) => false,
                };
                let each = match product.len() {
                    1 => Each::Start,
                    _ if product.iter().any(is_step) => Each::Pitch,
                    _ => {
                        others.push(position);
                        continue;
                    }
                };
                let is_known = *found.entry(position).or_insert(each) == each;
                if !is_known || !is_of_another(id) {
                    others.push(position);
                }
            }
        }
    }
    found.retain(|position, _| !others.contains(position));
    found
}
