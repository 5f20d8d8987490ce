//! Records the booleans that no edge tells: conditions of `select`s, and the last operands of short-circuits.

use std::collections::HashMap;

use crate::cfg::graph::Edge;
use crate::cfg::indices::BlockIndex;
use crate::cfg::loops::Loop;
use crate::cfg::sites::FunctionSites;
use crate::instrument::coverage::plan::ValuePlace;
use crate::llvm::{Block, Inst, Value};

use super::code::ProbeCode;

impl<'m> ProbeCode<'m> {
    /// Records a boolean: sets the first bit if it is true, the second if it is false.
    pub fn record(&self, words: Value<'m>, recorder: &Recorder<'m>) {
        let (yes, no) = (recorder.bit % 32, recorder.bit % 32 + 1);
        let numbers = match recorder.from {
            None => (self.number(1 << yes), self.number(1 << no)),
            // The last operand of `&&` is true if the result is, and false if the result is although control came from
            // the operand; for `||` the other way round. So nothing is inserted into the operand's own block, and it
            // can still be evaluated without a branch.
            Some(LastOperand { block: from, whole_if_decided, .. }) => {
                let arrived = |bit: u32| {
                    let join = recorder.user.block();
                    self.phi(join, &|block| self.number(if block == from { 1 << bit } else { 0 }))
                };
                if whole_if_decided {
                    (arrived(yes), self.number(1 << no))
                } else {
                    (self.number(1 << yes), arrived(no))
                }
            }
        };
        let (before, condition) = match recorder.from {
            None => (recorder.user, recorder.user.operand(0)),
            Some(_) => (recorder.user.block().first_insertion_point(), recorder.user.value()),
        };
        self.before(before);
        let chosen = self.builder.select(condition, numbers.0, numbers.1, "");
        self.call(self.cover, &[words, self.number(recorder.bit / 32), chosen]);
    }

    /// Returns the block and the bits of a boolean that are better set on the edges after its join: on one of them a
    /// loop is left, if the last operand was not asked or decided the same. So it is with most loops that have a
    /// compound condition. Must come before edges of the function are split.
    pub fn loop_exit(&self, recorder: &Recorder<'m>, sites: &FunctionSites) -> Option<(BlockIndex, LoopExit<'m>)> {
        let LastOperand { block: operand, whole_if_decided, join: at } = recorder.from?;
        let join = recorder.user.block();
        let terminator = join.terminator();
        if terminator.branch_condition() != Some(recorder.user.value()) {
            return None;
        }
        // The first successor is that of a condition that is true.
        let leaves = usize::from(!whole_if_decided);
        let stays_in = |l: &Loop, edge: Edge| l.blocks.contains(&sites.cfg.target(edge));
        let is_left = |l: &Loop| {
            let edge = |successor| Edge { block: at, successor };
            l.blocks.contains(&at) && stays_in(l, edge(1 - leaves)) && !stays_in(l, edge(leaves))
        };
        if !sites.loops.iter().any(is_left) {
            return None;
        }
        let (yes, no) = (1 << (recorder.bit % 32), 2 << (recorder.bit % 32));
        let (leaving, staying) = if whole_if_decided { (yes, no) } else { (no, yes) };
        let leaving = self.phi(join, &|from| self.number(if from == operand { leaving } else { 0 }));
        let masks = vec![Masks { word: recorder.bit / 32, leaving, staying }];
        Some((at, LoopExit { join, operand, leaves, masks }))
    }

    /// Sets the bits of a join on its edges.
    pub fn record_loop_exit(&self, words: Value<'m>, exit: &LoopExit<'m>) {
        for successor in [exit.leaves, 1 - exit.leaves] {
            let target = exit.join.terminator().successors()[successor];
            let is_only_edge = target.value().user_instructions().len() == 1;
            let block = if is_only_edge { target } else { self.split(exit.join, successor) };
            self.before(block.first_insertion_point());
            for masks in &exit.masks {
                let mask = if successor == exit.leaves { masks.leaving } else { self.number(masks.staying) };
                if mask.as_u64() != Some(0) {
                    self.call(self.cover, &[words, self.number(masks.word), mask]);
                }
            }
        }
    }
}

/// A boolean to record: the condition of a `select`, or the last operand of a short-circuit's `phi`.
pub struct Recorder<'m> {
    user: Inst<'m>,
    /// For a `phi`.
    from: Option<LastOperand<'m>>,
    bit: u32,
}

/// Where the last operand of a short-circuit comes from.
#[derive(Clone, Copy)]
struct LastOperand<'m> {
    block: Block<'m>,
    /// The value that the other blocks contribute.
    whole_if_decided: bool,
    /// The block of the `phi`.
    join: BlockIndex,
}

impl<'m> Recorder<'m> {
    pub fn at(place: ValuePlace, bit: u32, blocks: &[Block<'m>], insts: &[Vec<Inst<'m>>]) -> Option<Recorder<'m>> {
        let find = |(block, instruction): (BlockIndex, usize)| insts[block].get(instruction).copied();
        Some(match place {
            ValuePlace::Select { block, instruction } => {
                Recorder { user: find((block, instruction))?, from: None, bit }
            }
            ValuePlace::PhiOperand { block, phi } => {
                let user = find(phi)?;
                let decided = user.incoming().into_iter().find_map(|(value, _)| value.as_bool());
                let from = LastOperand { block: blocks[block], whole_if_decided: decided?, join: phi.0 };
                Recorder { user, from: Some(from), bit }
            }
        })
    }
}

/// The join of a short-circuit that leaves a loop: bits are set on its two edges. While the loop goes on, control comes
/// from the last operand, so they are known; only when it is left they depend on where control came from.
pub struct LoopExit<'m> {
    join: Block<'m>,
    /// The block of the last operand.
    operand: Block<'m>,
    /// The position of the successor that leaves the loop.
    leaves: usize,
    masks: Vec<Masks<'m>>,
}

/// Bits of a word.
struct Masks<'m> {
    word: u32,
    /// Where the loop is left: a value in the join.
    leaving: Value<'m>,
    staying: u32,
}

impl<'m> LoopExit<'m> {
    /// Takes over the bits of a word that the join would set: a value, made of what each block brings. Returns whether
    /// it does.
    pub fn take(&mut self, word: u32, mask: Value<'m>, brought: &HashMap<Block<'m>, Value<'m>>) -> bool {
        let staying = brought.get(&self.operand).map_or(Some(0), |brought| brought.as_u64());
        let Some(staying) = staying else { return false };
        self.masks.push(Masks { word, leaving: mask, staying: staying as u32 });
        true
    }
}
