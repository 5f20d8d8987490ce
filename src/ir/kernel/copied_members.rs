//! Keeps what clang says of copies of structs: where the members lie that are copied. Clang says so in metadata that
//! optimisers may take for more (`tbaa.struct`), so that the canonical form has a mark of its own instead.

use std::ops::Range;

use kassay_model::native::abi::mark;

use crate::llvm::{Inst, Node, Operand, View};

/// Replaces what clang says of copies by marks; what else has such marks loses them.
pub fn mark_copies(view: View<'_>) {
    let (clang, own) = (view.metadata_kind("tbaa.struct"), view.metadata_kind(mark::MEMBERS));
    let begins = view.metadata_kind(mark::BEGINS);
    for inst in view.instructions() {
        // A kernel given as IR may come with it.
        if inst.metadata(begins).is_some() {
            inst.set_metadata(begins, None);
        }
        let members = inst.metadata(clang).and_then(members);
        let int = view.int_type(64);
        let mark = members.map(|all| {
            let numbers = all.iter().flat_map(|member| [member.start, member.end]);
            let operands: Vec<Operand<'_>> = numbers.map(|number| Operand::Value(int.int(number))).collect();
            Node::new(int, &operands)
        });
        if mark.is_some() || inst.metadata(own).is_some() {
            inst.set_metadata(own, mark);
        }
        inst.set_metadata(clang, None);
    }
}

/// Reads clang's triples of offset, size and type; `None` if they are not understood.
fn members(node: Node<'_>) -> Option<Vec<Range<u64>>> {
    let operands = node.operands();
    let mut all = Vec::new();
    for member in operands.chunks(3) {
        let [from, size, _] = member else { return None };
        let from = from.number()?;
        all.push(from..from.checked_add(size.number()?)?);
    }
    Some(joined(all))
}

/// Returns where the members lie that a copy copies, ascending and apart from each other; `None` if nothing is known.
pub fn of_copy<'m>(view: View<'m>, copy: Inst<'m>) -> Option<Vec<Range<u64>>> {
    let node = copy.metadata(view.metadata_kind(mark::MEMBERS))?;
    let mut all = Vec::new();
    for member in node.operands().chunks(2) {
        let [start, end] = member else { return None };
        all.push(start.number()?..end.number()?);
    }
    Some(joined(all))
}

/// Returns the ranges in order, those that touch as one.
fn joined(mut all: Vec<Range<u64>>) -> Vec<Range<u64>> {
    all.retain(|range| range.start < range.end);
    all.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(joined(vec![8..12, 0..2, 4..4, 2..4, 11..13, 20..21]), [0..4, 8..13, 20..21]);
    }
}
