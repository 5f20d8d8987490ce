//! Asynchronous copies of a work-group (OpenCL C 3.0, 6.15.11): when they are on their way, and what they are not
//! ordered with.
//!
//! A copy belongs to all work-items of a group. It may begin when the first of them calls it, and is complete when one
//! comes back from a wait for its event. So an access of another work-item is ordered with it if it comes behind that
//! one's wait, or in front of a barrier that comes before the call. Copies are encoded where no barrier comes between
//! call and wait, so that the segment of the call has all that is not ordered with them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::Opcode;

use super::accesses::Unsupported;
use super::graph::{Graph, NodeId};
use super::segments::Cut;
use super::uniformity::Uniformity;
use crate::program::{Instruction, Op, Program, Region, ValueId};

/// Bytes of an `event_t` in memory.
const EVENT_BYTES: i64 = 8;

/// The asynchronous copies of a kernel, by the results of their calls.
pub struct Copies {
    all: BTreeMap<ValueId, Copy>,
}

/// A copy.
struct Copy {
    node: NodeId,
    /// In its block.
    index: usize,
    /// Instructions that may come between its call and a wait for it.
    on_its_way: HashSet<ValueId>,
}

/// The element of a private array.
type Slot = (ValueId, i64);

impl Copies {
    /// Finds the copies of a kernel.
    pub fn of(program: &Program, graph: &Graph, uniformity: &Uniformity) -> Result<Copies, Unsupported> {
        let mut all = BTreeMap::new();
        for node in &graph.order {
            let of_node = &graph.nodes[*node];
            for index in of_node.instructions.clone() {
                let call = &program.blocks[of_node.block].instructions[index];
                if !is(call, Family::AsyncCopy) {
                    continue;
                }
                let unsupported = |what: &str| Unsupported::new(what, call.location.clone());
                if arguments(program, call).any(|operand| uniformity.is_divergent(operand)) {
                    return Err(unsupported("asynchronous copies whose arguments may differ between work-items"));
                }
                let on_its_way = on_its_way(program, graph, *node, index).ok_or_else(|| {
                    unsupported("asynchronous copies that may not be waited for before the next barrier or copy")
                })?;
                all.insert(call.result, Copy { node: *node, index, on_its_way });
            }
        }
        Ok(Copies { all })
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// For each copy the instructions with which it is not ordered where segments end at the barriers of `cut`.
    pub fn unordered(&self, program: &Program, graph: &Graph, cut: Cut) -> Unordered<'_> {
        let before = self.all.iter().map(|(call, copy)| (*call, before(program, graph, cut, copy))).collect();
        Unordered { copies: self, before }
    }
}

/// What is not ordered with which copy.
pub struct Unordered<'c> {
    copies: &'c Copies,
    /// By call: instructions behind which it may come without a barrier between.
    before: BTreeMap<ValueId, HashSet<ValueId>>,
}

impl Unordered<'_> {
    /// Whether two instructions may access memory at one time, as far as copies decide it, one or both being a copy:
    /// those of work-items are ordered by barriers alone.
    pub fn may_meet(&self, one: &Instruction, other: &Instruction) -> bool {
        let copies = &self.copies.all;
        match (copies.get(&one.result), copies.get(&other.result)) {
            (None, None) => true,
            // The same copy, or the next one that is called there, when this is complete.
            (Some(_), Some(_)) if one.result == other.result => false,
            (Some(a), Some(b)) => a.on_its_way.contains(&other.result) || b.on_its_way.contains(&one.result),
            (Some(copy), None) => {
                copy.on_its_way.contains(&other.result) || self.before[&one.result].contains(&other.result)
            }
            (None, Some(_)) => self.may_meet(other, one),
        }
    }
}

fn is(instruction: &Instruction, family: Family) -> bool {
    matches!(&instruction.op, Op::Call(_, base) if builtins::family(base) == Some(family))
}

/// The arguments that say what is copied: all but the event.
fn arguments(program: &Program, call: &Instruction) -> impl Iterator<Item = ValueId> {
    let other = crate::program::Kind::Other;
    call.operands.iter().copied().filter(move |operand| program.shape(*operand).kind != other)
}

/// What may come between a copy's call and a wait for it. `None` if it may come to a barrier, to the end of the kernel
/// or to the same call again without, or if its event is not followed.
fn on_its_way(program: &Program, graph: &Graph, node: NodeId, index: usize) -> Option<HashSet<ValueId>> {
    let code = &program.blocks[graph.nodes[node].block].instructions;
    let call = &code[index];
    let is_store = |i: &Instruction| matches!(i.op, Op::Store) && i.operands.first() == Some(&call.result);
    let stored = (index..graph.nodes[node].instructions.end).find(|i| is_store(&code[*i]))?;
    if program.instructions().filter(|(_, i)| is_store(i)).count() > 1 {
        return None;
    }
    let slot = slot(program, *code[stored].operands.get(1)?)?;
    let mut all: HashSet<ValueId> = code[index + 1..=stored].iter().map(|i| i.result).collect();
    let mut seen = BTreeSet::new();
    let mut todo = vec![(node, stored + 1)];
    while let Some((node, from)) = todo.pop() {
        let of_node = &graph.nodes[node];
        let rest = &program.blocks[of_node.block].instructions[from..of_node.instructions.end];
        let mut is_complete = false;
        for instruction in rest {
            is_complete = waits_for(program, instruction, slot);
            if is_complete {
                break;
            }
            if instruction.result == call.result || loses(program, instruction, slot, call) {
                return None;
            }
            all.insert(instruction.result);
        }
        if is_complete {
            continue;
        }
        if of_node.successors.is_empty() {
            return None;
        }
        for (to, _) in &of_node.successors {
            if graph.nodes[*to].barrier.is_some() {
                return None;
            }
            if seen.insert(*to) {
                todo.push((*to, graph.nodes[*to].instructions.start));
            }
        }
    }
    Some(all)
}

/// The element that a pointer is to, if it is a certain one of a private array.
fn slot(program: &Program, pointer: ValueId) -> Option<Slot> {
    let instruction = program.instruction(pointer)?;
    match &instruction.op {
        Op::Alloca(_) => Some((pointer, 0)),
        Op::Copy | Op::Cast(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {
            slot(program, *instruction.operands.first()?)
        }
        Op::Address { steps, offset } => {
            let (array, begin) = slot(program, *instruction.operands.first()?)?;
            let mut sum = begin.checked_add(*offset)?;
            for step in steps {
                let index = program.constant(*instruction.operands.get(step.operand)?)?;
                sum = sum.checked_add(index.checked_mul(step.scale)?)?;
            }
            Some((array, sum))
        }
        _ => None,
    }
}

/// Whether a call waits for the event that stands in a slot.
fn waits_for(program: &Program, instruction: &Instruction, (array, offset): Slot) -> bool {
    let [count, list, ..] = instruction.operands[..] else { return false };
    if !is(instruction, Family::EventWait) {
        return false;
    }
    let (Some(count), Some((of, begin))) = (program.constant(count), slot(program, list)) else { return false };
    of == array && (begin..begin.saturating_add(count.saturating_mul(EVENT_BYTES))).contains(&offset)
}

/// Whether an instruction may put something into a slot that does not stand for the event of a call.
fn loses(program: &Program, instruction: &Instruction, place: Slot, call: &Instruction) -> bool {
    let points_there = |pointer: &ValueId| {
        program.roots[*pointer as usize].iter().any(|r| matches!(r, Region::Private(a) if *a == place.0))
    };
    match &instruction.op {
        Op::Store => {
            let [value, pointer, ..] = instruction.operands[..] else { return true };
            if !points_there(&pointer) && !program.roots[pointer as usize].contains(&Region::Unknown) {
                return false;
            }
            let is_apart = slot(program, pointer).is_some_and(|(_, offset)| (offset - place.1).abs() >= EVENT_BYTES);
            !is_apart && !continues(program, value, place, call)
        }
        Op::Call(..) if is(instruction, Family::EventWait) || is(instruction, Family::AsyncCopy) => false,
        Op::Call(..) => instruction.operands.iter().any(points_there),
        _ => false,
    }
}

/// Whether a value is the event of a later copy that was given that of this one, and so stands for both.
fn continues(program: &Program, value: ValueId, place: Slot, call: &Instruction) -> bool {
    let Some(later) = program.instruction(value).filter(|i| is(i, Family::AsyncCopy)) else { return false };
    let Some(event) = later.operands.last() else { return false };
    let is_loaded = program.instruction(*event).is_some_and(|load| {
        matches!(load.op, Op::Load) && load.operands.first().and_then(|from| slot(program, *from)) == Some(place)
    });
    *event == call.result || is_loaded
}

/// The instructions behind which a copy may be called without a barrier of `cut` between.
fn before(program: &Program, graph: &Graph, cut: Cut, copy: &Copy) -> HashSet<ValueId> {
    let (mut all, mut seen) = (HashSet::new(), BTreeSet::new());
    let mut todo = vec![(copy.node, copy.index)];
    while let Some((node, end)) = todo.pop() {
        let of_node = &graph.nodes[node];
        let code = &program.blocks[of_node.block].instructions;
        all.extend(code[of_node.instructions.start..end].iter().map(|i| i.result));
        if of_node.barrier.as_ref().is_some_and(|barrier| cut.is_at(barrier)) {
            continue;
        }
        for (from, _) in &of_node.predecessors {
            if seen.insert(*from) {
                todo.push((*from, graph.nodes[*from].instructions.end));
            }
        }
    }
    all
}
