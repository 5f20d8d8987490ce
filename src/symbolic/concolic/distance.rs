//! How far blocks are from the marks that are wanted, in branches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::instrument::marks::MARK;
use crate::program::{End, Op, Program};

/// From where no wanted mark can be reached.
pub const UNREACHABLE: u32 = u32::MAX;

/// Where a terminator may lead to, in its order: of branches first where the condition is true, of switches first the default.
pub fn successors(end: &End) -> Vec<usize> {
    match end {
        End::Goto(to) => vec![*to],
        End::Branch { then, other, .. } => vec![*then, *other],
        End::Switch { default, cases, .. } => {
            std::iter::once(*default).chain(cases.iter().map(|(_, to)| *to)).collect()
        }
        End::Return | End::Unreachable => Vec::new(),
    }
}

/// The blocks in which each mark stands.
pub fn marks(program: &Program) -> BTreeMap<u32, BTreeSet<usize>> {
    let mut found: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (block, instruction) in program.instructions() {
        if let Op::Call(name, _) = &instruction.op
            && name == MARK
            && let Some(goal) = instruction.operands.first().and_then(|o| program.constant(*o))
        {
            found.entry(goal as u32).or_default().insert(block);
        }
    }
    found
}

/// By block, the fewest branches on a way to one of these blocks.
pub fn distances(program: &Program, to: impl IntoIterator<Item = usize>) -> Vec<u32> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); program.blocks.len()];
    for (block, code) in program.blocks.iter().enumerate() {
        for successor in successors(&code.end) {
            before[successor].push(block);
        }
    }
    let mut found = vec![UNREACHABLE; program.blocks.len()];
    let mut todo = VecDeque::new();
    for block in to {
        found[block] = 0;
        todo.push_back(block);
    }
    while let Some(block) = todo.pop_front() {
        for from in &before[block] {
            let is_choice = !matches!(program.blocks[*from].end, End::Goto(_));
            let through = found[block] + u32::from(is_choice);
            if through < found[*from] {
                found[*from] = through;
                if is_choice { todo.push_back(*from) } else { todo.push_front(*from) }
            }
        }
    }
    found
}
