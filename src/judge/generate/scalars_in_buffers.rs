//! Finds scalars that lie in buffers: widths, strides and offsets that the host passes through memory, one by one or in
//! a struct, and that are the same for all work-items.

use std::collections::{BTreeMap, BTreeSet};

use kassay_model::interface::{Arg, ArgKind, ArgSource, Interface, Scalar, Type};
use kassay_prove::program::{Op, ValueId};
use kassay_suite::scalar_layout;

use super::access_summary::{AccessKind, AccessSummary};
use super::model::{Role, ScalarModel};

/// Of a buffer out of which more places are read so, each is data rather than a parameter.
const MOST: usize = 32;

/// Returns argument and offset of what a load reads, if that is the same for all work-items and nothing writes it.
pub fn place(summary: &AccessSummary<'_>, load: ValueId) -> Option<(u32, u64)> {
    let instruction = summary.program.instruction(load).filter(|i| matches!(i.op, Op::Load))?;
    summary.symbols.place_of_scalar(instruction.operands[0])
}

/// Returns whether the program gives what lies between two offsets of an argument. Zeros in a variable that the kernel
/// does not write are what a host, or another kernel, replaces before the launch.
pub fn is_given(arg: &Arg, from: u64, to: u64) -> bool {
    let ArgSource::Variable { initial, has_addresses } = &arg.source else { return false };
    let [from, to] = [from, to].map(|at| usize::try_from(at).unwrap_or(usize::MAX).min(initial.len()));
    *has_addresses || initial[from..to.max(from)].iter().any(|byte| *byte != 0)
}

/// Returns the integers in buffers that are read at places which are the same in all launches. What they are for is
/// left open.
pub fn find(summary: &AccessSummary<'_>, interface: &Interface) -> Vec<ScalarModel> {
    let mut found: BTreeMap<u32, BTreeSet<(u64, u64)>> = BTreeMap::new();
    for access in summary.accesses.iter().filter(|access| access.kind == AccessKind::Read) {
        if let Some((position, offset)) = place(summary, access.id) {
            found.entry(position).or_default().insert((offset, access.bytes));
        }
    }
    let mut all = Vec::new();
    for (position, places) in found {
        let Some(arg) = interface.args.get(position as usize) else { continue };
        let ArgKind::Buffer { element: Some(element), .. } = &arg.kind else { continue };
        if places.len() > MOST || element.size() == 0 {
            continue;
        }
        let mut scalars: BTreeMap<u64, ScalarModel> = BTreeMap::new();
        let is_alone =
            matches!(&arg.source, ArgSource::Variable { initial, .. } if initial.len() as u64 == element.size());
        let label = arg.display_name();
        for (from, bytes) in places {
            let to = from.saturating_add(bytes);
            if is_given(arg, from, to) {
                continue;
            }
            for (offset, scalar, name) in scalars_between(element, from, to, &label, is_alone) {
                scalars
                    .entry(offset)
                    .or_insert(ScalarModel { in_buffer: true, ..ScalarModel::new(position, offset, scalar, name) });
            }
        }
        all.extend(scalars.into_values());
    }
    all
}

/// Returns offset, type and name of the integers between two offsets of a buffer. `is_alone`: it is a variable of one
/// element.
fn scalars_between(element: &Type, from: u64, to: u64, label: &str, is_alone: bool) -> Vec<(u64, Scalar, String)> {
    let size = element.size();
    let leaves = scalar_layout::leaves(element);
    let is_struct = matches!(element, Type::Struct(_));
    let mut all = Vec::new();
    for index in from / size..to.div_ceil(size) {
        for leaf in leaves.iter().filter(|leaf| scalar_layout::range(leaf.scalar).is_some()) {
            let offset = index * size + leaf.offset;
            if offset < from || offset + leaf.scalar.size() > to {
                continue;
            }
            if is_alone && !is_struct && leaf.path.is_empty() {
                all.push((offset, leaf.scalar, label.to_owned()));
                continue;
            }
            let name = match (is_struct && index == 0, leaf.path.is_empty() || leaf.path.starts_with('[')) {
                (true, _) => format!("{label}->{}", leaf.path),
                (false, true) => format!("{label}[{index}]{}", leaf.path),
                (false, false) => format!("{label}[{index}].{}", leaf.path),
            };
            all.push((offset, leaf.scalar, name));
        }
    }
    all
}

/// Returns whether the scalar is one of those of the model: it is passed by value, or addresses and bounds depend on
/// it.
pub fn matters(scalar: &ScalarModel) -> bool {
    let is_parameter =
        matches!(scalar.role, Role::Bound | Role::RowLength | Role::Count | Role::Index | Role::Shift | Role::Divisor);
    !scalar.in_buffer || is_parameter
}
