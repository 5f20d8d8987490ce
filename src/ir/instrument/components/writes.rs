//! Narrows writes to vector components (`v.x = 1`), which clang compiles to a read and a write of the complete vector,
//! and writes of vectors of three components, of which clang writes four.

use std::collections::{HashMap, VecDeque};

use super::parts::{describe, has_components, is_own};
use crate::llvm::{Function, Inst, Location, Opcode, Value, View};

/// A store of a vector that was loaded from the same address, with some components replaced.
struct Merge<'m> {
    store: Inst<'m>,
    /// Instructions to erase, each before the ones it uses.
    dead: Vec<Inst<'m>>,
    /// The replaced components.
    parts: Vec<Part<'m>>,
}

enum Part<'m> {
    Scalar(Value<'m>, Value<'m>),
    /// Component, source vector, component of the source vector.
    Component(u32, Value<'m>, u32),
}

/// Makes such stores write only the components that they replace.
pub fn separate<'m>(view: View<'m>, kernel: Function<'m>) {
    for block in kernel.blocks() {
        let mut unused = UnusedReads::default();
        for inst in block.instructions() {
            match inst.opcode() {
                Opcode::LLVMLoad => unused.note(inst),
                Opcode::LLVMStore => match find(inst) {
                    Some(merge) => rewrite(view, merge),
                    None => {
                        unused.drop_before(inst);
                        shorten(view, inst);
                    }
                },
                _ => {}
            }
        }
    }
}

/// Unused reads of complete vectors in a block, by pointer and debug location.
#[derive(Default)]
struct UnusedReads<'m>(HashMap<(Value<'m>, Option<Location<'m>>), VecDeque<Inst<'m>>>);

impl<'m> UnusedReads<'m> {
    fn note(&mut self, load: Inst<'m>) {
        if !load.is_used() && !load.is_volatile() && load.ty().is_vector() {
            self.0.entry((load.operand(0), load.debug_location())).or_default().push_back(load);
        }
    }

    /// Erases the unused read of the complete vector before a write of all its components (`v.xyzw = w`).
    fn drop_before(&mut self, store: Inst<'m>) {
        let key = (store.operand(1), store.debug_location());
        if let Some(load) = self.0.get_mut(&key).and_then(VecDeque::pop_front) {
            load.erase();
        }
    }
}

fn find<'m>(store: Inst<'m>) -> Option<Merge<'m>> {
    if store.is_volatile() || store.is_atomic() {
        return None;
    }
    let mut dead = Vec::new();
    let mut only = |value: Value<'m>| {
        let inst = value.as_instruction().filter(|i| i.users().len() == 1 && i.block() == store.block())?;
        dead.push(inst);
        Some(inst)
    };
    // Vectors of three components are read and written as vectors of four.
    let mut merge = only(store.operand(0))?;
    if is_identity(merge) {
        merge = only(merge.operand(0))?;
    }
    let parts = parts(merge)?;
    let mut load = only(merge.operand(0))?;
    if is_identity(load) {
        load = only(load.operand(0))?;
    }
    let is_same = load.is(Opcode::LLVMLoad)
        && !load.is_volatile()
        && !load.is_atomic()
        && load.operand(0) == store.operand(1)
        && load.ty() == store.operand(0).ty();
    let mut between = load.following().take_while(|i| *i != store);
    let keeps_memory = |i: Inst<'m>| {
        use Opcode::*;
        !matches!(i.opcode(), LLVMStore | LLVMCall | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMFence)
    };
    (is_same && between.all(keeps_memory)).then_some(Merge { store, dead, parts })
}

/// Returns whether a shuffle leaves all components in place.
fn is_identity(inst: Inst<'_>) -> bool {
    let stays = |(i, from): (u32, Option<u32>)| from.is_none_or(|from| from == i);
    inst.shuffle_mask().is_some_and(|mask| (0..).zip(mask).all(stays))
}

/// Returns the components that an instruction replaces in its first operand.
fn parts(merge: Inst<'_>) -> Option<Vec<Part<'_>>> {
    if merge.is(Opcode::LLVMInsertElement) {
        return Some(vec![Part::Scalar(merge.operand(2), merge.operand(1))]);
    }
    let mask = merge.shuffle_mask()?;
    let lanes = merge.operand(0).ty().lanes()?;
    if mask.len() != lanes as usize {
        return None;
    }
    let mut all = Vec::new();
    for (lane, from) in (0..).zip(mask) {
        let from = from?;
        if from >= lanes {
            all.push(Part::Component(lane, merge.operand(1), from - lanes));
        } else if from != lane {
            return None;
        }
    }
    Some(all)
}

fn rewrite<'m>(view: View<'m>, merge: Merge<'m>) {
    let Merge { store, dead, parts } = merge;
    let (value, pointer) = (store.operand(0), store.operand(1));
    let element = value.ty().scalar();
    let bytes = view.layout().store_size(element);
    let builder = view.builder();
    builder.before(store);
    builder.set_location(store.debug_location());
    for part in parts {
        let (index, value) = match part {
            Part::Scalar(index, value) => (index, value),
            Part::Component(lane, vector, from) => {
                let value = builder.lane(vector, from);
                (view.int_type(32).int(lane.into()), value)
            }
        };
        let place = builder.gep(element, pointer, &[index], "");
        let new = builder.store(value, place);
        match index.as_u64() {
            Some(lane) => describe(view, new, store, lane * bytes),
            None => {
                new.set_alignment(u64::from(store.alignment().unwrap_or(0)).min(bytes).max(1) as u32);
                new.set_debug_location(store.debug_location());
            }
        }
    }
    drop(builder);
    for inst in [store].into_iter().chain(dead) {
        inst.erase();
    }
}

/// Makes the write of a vector whose last components are any values write only the others.
fn shorten<'m>(view: View<'m>, store: Inst<'m>) {
    let value = store.operand(0);
    if store.is_volatile() || store.is_atomic() || !has_components(view, value) || is_own(store.operand(1)) {
        return;
    }
    let Some(shuffle) = value.as_instruction() else { return };
    let Some(mask) = shuffle.shuffle_mask() else { return };
    let source = shuffle.operand(0);
    // Whatever is beyond the first vector is any value: the second one is none.
    let Some(count) = source.ty().lanes().filter(|count| (2..mask.len() as u32).contains(count)) else { return };
    let second = shuffle.operand(1);
    let stays = |(lane, from): (u32, &Option<u32>)| match from {
        Some(from) => *from == lane && (lane < count || second.is_undef()),
        None => lane >= count,
    };
    if !(0..).zip(&mask).all(stays) {
        return;
    }
    let builder = view.builder();
    builder.before(store);
    builder.set_location(store.debug_location());
    let new = builder.store(source, store.operand(1));
    describe(view, new, store, 0);
    drop(builder);
    store.erase();
    if !shuffle.is_used() {
        shuffle.erase();
    }
}
