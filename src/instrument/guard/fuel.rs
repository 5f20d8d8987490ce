//! Limits loop iterations: each costs one unit of fuel, and a loop is left when there is none. Loops that contain
//! barriers are left only when the work-group agrees (see `runtime-cl/guard.cl`).

use std::collections::{BTreeSet, HashMap, HashSet};

use inkwell::module::Module;
use llvm_sys::LLVMIntPredicate::LLVMIntSLT;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};

use super::builtin_accesses::{self, GroupSync};
use super::emit::Emitter;
use super::loops::{Loop, Loops};
use crate::error::Result;
use crate::instrument::layout::FaultKind;
use crate::kernel::ir::{self, Block, DebugLocation, Function, Inst};

/// Iterations that an item without fuel may still execute in loops that contain barriers, until it reaches a barrier
/// together with the others.
const GRACE: i32 = 1 << 12;

/// Address space of local memory.
const LOCAL: u32 = 3;

/// The variables through which the items of a group agree.
struct GroupAgreement {
    flags: LLVMValueRef,
    turn: LLVMValueRef,
    floor: LLVMValueRef,
}

/// The code that records the fault of a loop in which a work-item runs out of fuel.
#[derive(Clone, Copy)]
struct ExhaustionRecord {
    /// The variable and the function that sets it; `None`: nothing is recorded.
    variable: Option<(LLVMValueRef, Function)>,
    code: u32,
}

/// Returns the locations of loops in the source by the terminators of their latches.
pub fn starts(module: &Module<'_>, kernel: Function) -> HashMap<Inst, DebugLocation> {
    let kind = ir::metadata_kind(module, "llvm.loop");
    let loops = Loops::of(kernel);
    let latches = loops.all.iter().flat_map(|l| &l.latches).map(|b| loops.blocks[*b].terminator());
    latches
        .filter_map(|latch| {
            let start = latch.metadata_location(kind).or_else(|| latch.location());
            Some((latch, start.filter(|l| l.line > 0)?))
        })
        .collect()
}

/// Adds the guards of all loops and returns whether a barrier is required at the kernel's entry. `end` is the block in
/// which the kernel returns; it does not begin with a phi. `spent` is the variable for the fault of the loop in which
/// the fuel ran out; the location of each loop is appended to `places`. Unless `record_loops`, the variable is only set
/// in a kernel whose only cycle is a single natural loop.
pub fn guard(
    emitter: &Emitter<'_, '_>,
    end: Block,
    spent: LLVMValueRef,
    record_loops: bool,
    starts: &HashMap<Inst, DebugLocation>,
    places: &mut Vec<Option<DebugLocation>>,
) -> Result<bool> {
    let loops = Loops::of(emitter.kernel);
    let record = emitter.runtime("__kassay_left")?;
    let variable = record_loops.then_some((spent, record));
    let sync_calls = sync_calls(emitter);
    let sync_blocks: HashSet<Block> = sync_calls.iter().map(|(call, _)| call.block()).collect();
    let sync_blocks: BTreeSet<usize> =
        (0..loops.blocks.len()).filter(|b| sync_blocks.contains(&loops.blocks[*b])).collect();
    let synchronises = |l: &Loop| !l.blocks.is_disjoint(&sync_blocks);
    let group = match loops.all.iter().any(synchronises) {
        true => Some(agree_on_leaving(emitter, &sync_calls)?),
        false => None,
    };
    let mut at_latch = Vec::new();
    for (number, l) in loops.all.iter().enumerate() {
        let floor = group.as_ref().filter(|_| synchronises(l)).map(|g| g.floor);
        let latches = l.latches.iter().filter_map(|b| starts.get(&loops.blocks[*b].terminator()));
        let code = (places.len() as u32) << 8 | FaultKind::Fuel as u32;
        places.push(latches.min().cloned());
        if !record_loops && loops.all.len() == 1 && loops.irregular.is_empty() {
            emitter.at_entry();
            // SAFETY: alive; the variable holds a 32-bit integer.
            unsafe { LLVMBuildStore(emitter.builder, emitter.const_i32(code), spent) };
        }
        let exhaustion = ExhaustionRecord { variable, code };
        match loops.exit_branch(number) {
            Some((block, leaves)) => guard_exit_branch(emitter, block, leaves, floor, exhaustion),
            None => at_latch.push((l, floor, exhaustion)),
        }
    }
    for (l, floor, exhaustion) in at_latch {
        // In a kernel without barriers no item waits for those that go straight to the end.
        let exit = if sync_calls.is_empty() { None } else { loops.exit(l) };
        let blocks: BTreeSet<LLVMBasicBlockRef> = l.blocks.iter().map(|b| loops.blocks[*b].0).collect();
        if exit.is_some() {
            demote(emitter, &loops, &blocks);
        }
        let header = loops.blocks[l.header];
        for latch in &l.latches {
            let latch = loops.blocks[*latch];
            for (successor, _) in (0..).zip(latch.terminator().successors()).filter(|(_, s)| *s == header) {
                guard_edge(emitter, latch, successor, exit.unwrap_or(end), floor, exhaustion);
            }
        }
    }
    let outside_loops = ExhaustionRecord { variable, code: FaultKind::Fuel as u32 };
    for (from, successor) in &loops.irregular {
        guard_edge(emitter, loops.blocks[*from], *successor, end, None, outside_loops);
    }
    Ok(group.is_some())
}

/// Consumes one unit of fuel and returns whether none is left.
fn consume(emitter: &Emitter<'_, '_>, floor: Option<LLVMValueRef>) -> LLVMValueRef {
    // SAFETY: alive; all are 32-bit integers.
    unsafe {
        let left = emitter.load(emitter.int, emitter.fuel);
        let left = LLVMBuildAdd(emitter.builder, left, emitter.const_i32(u32::MAX), c"".as_ptr());
        LLVMBuildStore(emitter.builder, left, emitter.fuel);
        let floor = floor.map_or_else(|| emitter.const_i32(0), |variable| emitter.load(emitter.int, variable));
        emitter.compare(LLVMIntSLT, left, floor)
    }
}

/// Adds the fuel test to a branch condition; the branch leaves the loop on successor `leaves`.
fn guard_exit_branch(
    emitter: &Emitter<'_, '_>,
    block: Block,
    leaves: u32,
    floor: Option<LLVMValueRef>,
    exhaustion: ExhaustionRecord,
) {
    let branch = block.terminator();
    emitter.before(branch.0);
    let none = consume(emitter, floor);
    // SAFETY: alive; a conditional branch.
    unsafe {
        let condition = LLVMGetCondition(branch.0);
        let condition = if leaves == 0 {
            LLVMBuildOr(emitter.builder, condition, none, c"".as_ptr())
        } else {
            let some = LLVMBuildNot(emitter.builder, none, c"".as_ptr());
            LLVMBuildAnd(emitter.builder, condition, some, c"".as_ptr())
        };
        LLVMSetCondition(branch.0, condition);
    }
    let exit = branch.successors()[leaves as usize];
    if let Some(recording) = record_exhaustion(emitter, exit, exhaustion) {
        // SAFETY: alive; the new block takes the edge's place in the terminator and in the phis of its target.
        unsafe { LLVMSetSuccessor(branch.0, leaves, recording.0) };
        redirect_phis(emitter, exit, block, recording);
    }
}

/// Inserts a block in front of `exit` that records the loop if its fuel ran out there.
fn record_exhaustion(emitter: &Emitter<'_, '_>, exit: Block, exhaustion: ExhaustionRecord) -> Option<Block> {
    let (variable, function) = exhaustion.variable?;
    let recording = emitter.block_before(exit, c"kassay.left");
    emitter.at_end(recording);
    let fuel = emitter.load(emitter.int, emitter.fuel);
    emitter.call(function, &mut [variable, fuel, emitter.const_i32(exhaustion.code)]);
    // SAFETY: alive; the block had no terminator.
    unsafe { LLVMBuildBr(emitter.builder, exit.0) };
    Some(recording)
}

/// Changes one entry of each phi of `block` from `old` to `new`.
fn redirect_phis(emitter: &Emitter<'_, '_>, block: Block, old: Block, new: Block) {
    for phi in phis(block) {
        // SAFETY: alive; `new` took the place of an edge from `old`.
        unsafe {
            rebuild(emitter, phi, |value, block, seen| {
                let moved = block == old.0 && !seen;
                (value, if moved { new.0 } else { block }, moved)
            });
        }
    }
}

/// Inserts a fuel test on an edge; without fuel it branches to `exit`.
fn guard_edge(
    emitter: &Emitter<'_, '_>,
    from: Block,
    successor: u32,
    exit: Block,
    floor: Option<LLVMValueRef>,
    exhaustion: ExhaustionRecord,
) {
    let terminator = from.terminator();
    let to = terminator.successors()[successor as usize];
    let test = emitter.block_before(to, c"kassay.fuel");
    emitter.at_end(test);
    let none = consume(emitter, floor);
    let recording = record_exhaustion(emitter, exit, exhaustion);
    emitter.at_end(test);
    let out = recording.unwrap_or(exit);
    // SAFETY: alive; the new block takes the edge's place in the terminator and in the phis of its target.
    unsafe {
        LLVMBuildCondBr(emitter.builder, none, out.0, to.0);
        LLVMSetSuccessor(terminator.0, successor, test.0);
        redirect_phis(emitter, to, from, test);
        for phi in phis(exit) {
            let ty = LLVMTypeOf(phi.0);
            let mut nothing = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMTargetExtTypeKind => LLVMGetUndef(ty),
                _ => LLVMConstNull(ty),
            };
            LLVMAddIncoming(phi.0, &mut nothing, &mut { recording.unwrap_or(test).0 }, 1);
        }
    }
}

fn phis(block: Block) -> Vec<Inst> {
    block.instructions().into_iter().take_while(|i| i.opcode() == LLVMOpcode::LLVMPHI).collect()
}

/// Rebuilds a phi with entries changed by `change`, whose last argument says whether it has already changed one.
unsafe fn rebuild(
    emitter: &Emitter<'_, '_>,
    phi: Inst,
    change: impl Fn(LLVMValueRef, LLVMBasicBlockRef, bool) -> (LLVMValueRef, LLVMBasicBlockRef, bool),
) {
    // SAFETY: alive and a phi; the replacement has the same type and stands at the same place.
    unsafe {
        emitter.before(phi.0);
        let new = LLVMBuildPhi(emitter.builder, LLVMTypeOf(phi.0), c"".as_ptr());
        let mut changed = false;
        for i in 0..LLVMCountIncoming(phi.0) {
            let (mut value, mut block, now) =
                change(LLVMGetIncomingValue(phi.0, i), LLVMGetIncomingBlock(phi.0, i), changed);
            changed |= now;
            LLVMAddIncoming(new, &mut value, &mut block, 1);
        }
        LLVMReplaceAllUsesWith(phi.0, new);
        LLVMInstructionEraseFromParent(phi.0);
    }
}

/// Keeps values that are computed in the loop and used after it in variables, so that the loop can be left
/// from any point.
fn demote(emitter: &Emitter<'_, '_>, loops: &Loops, blocks: &BTreeSet<LLVMBasicBlockRef>) {
    let inside = |block: LLVMBasicBlockRef| blocks.contains(&block);
    let computed = loops.blocks.iter().filter(|b| inside(b.0)).flat_map(|b| b.instructions());
    for inst in computed.collect::<Vec<_>>() {
        // SAFETY: alive; uses are collected before any is changed.
        unsafe {
            let ty = LLVMTypeOf(inst.0);
            let mut outside = Vec::new();
            let mut next = LLVMGetFirstUse(inst.0);
            while !next.is_null() {
                let user = Inst(LLVMGetUser(next));
                if user.opcode() == LLVMOpcode::LLVMPHI || !inside(user.block().0) {
                    outside.push(user);
                }
                next = LLVMGetNextUse(next);
            }
            outside.sort_unstable_by_key(|i| i.0 as usize);
            outside.dedup();
            let leaves = |user: &Inst| match user.opcode() {
                LLVMOpcode::LLVMPHI => (0..LLVMCountIncoming(user.0))
                    .any(|i| LLVMGetIncomingValue(user.0, i) == inst.0 && !inside(LLVMGetIncomingBlock(user.0, i))),
                _ => true,
            };
            outside.retain(leaves);
            if outside.is_empty() || LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVoidTypeKind {
                continue;
            }
            let variable = emitter.variable(LLVMGetUndef(ty));
            let after = match inst.opcode() {
                LLVMOpcode::LLVMPHI => inst.block().first_insertion_point().0,
                _ => LLVMGetNextInstruction(inst.0),
            };
            emitter.before(after);
            LLVMBuildStore(emitter.builder, inst.0, variable);
            for user in outside {
                if user.opcode() == LLVMOpcode::LLVMPHI {
                    rebuild(emitter, user, |value, block, _| {
                        if value != inst.0 || inside(block) {
                            return (value, block, false);
                        }
                        emitter.before(LLVMGetBasicBlockTerminator(block));
                        (emitter.load(ty, variable), block, true)
                    });
                } else {
                    emitter.before(user.0);
                    let value = emitter.load(ty, variable);
                    for (i, operand) in (0..).zip(user.operands()) {
                        if operand == inst.0 {
                            LLVMSetOperand(user.0, i, value);
                        }
                    }
                }
            }
        }
    }
}

/// Finds the calls at which all items of a group synchronise.
fn sync_calls(emitter: &Emitter<'_, '_>) -> Vec<(Inst, GroupSync)> {
    let calls = emitter.kernel.blocks().into_iter().flat_map(|b| b.instructions());
    calls.filter_map(|i| Some((i, builtin_accesses::group_sync(&i.callee()?)?))).collect()
}

/// Makes the items of a group agree on leaving at each of these calls.
fn agree_on_leaving(emitter: &Emitter<'_, '_>, sync_calls: &[(Inst, GroupSync)]) -> Result<GroupAgreement> {
    let (begin, arrive, agreed) =
        (emitter.runtime("__kassay_flags")?, emitter.runtime("__kassay_arrive")?, emitter.runtime("__kassay_agree")?);
    let meet = emitter.runtime("__kassay_meet")?;
    // SAFETY: alive; the type is that of two integers.
    let flags = unsafe {
        let ty = LLVMArrayType2(emitter.int, 2);
        let flags = LLVMAddGlobalInAddressSpace(emitter.module.as_mut_ptr(), ty, c"kassay.flags".as_ptr(), LOCAL);
        LLVMSetLinkage(flags, LLVMLinkage::LLVMInternalLinkage);
        LLVMSetInitializer(flags, LLVMGetUndef(ty));
        LLVMSetAlignment(flags, 4);
        flags
    };
    emitter.at_entry();
    emitter.call(begin, &mut [flags]);
    let group = GroupAgreement {
        flags,
        turn: emitter.variable(emitter.const_i32(0)),
        floor: emitter.variable(emitter.const_i32(GRACE.wrapping_neg() as u32)),
    };
    for (call, kind) in sync_calls {
        emitter.before(call.0);
        emitter.call(arrive, &mut [group.flags, group.turn, emitter.fuel]);
        match kind {
            GroupSync::Barrier => fence_local(emitter, *call),
            GroupSync::Other => {
                emitter.call(meet, &mut []);
            }
        }
        // SAFETY: alive; a call is no terminator.
        emitter.before(unsafe { LLVMGetNextInstruction(call.0) });
        emitter.call(agreed, &mut [group.flags, group.turn, group.floor]);
    }
    Ok(group)
}

/// Makes a barrier order local memory, too.
fn fence_local(emitter: &Emitter<'_, '_>, call: Inst) {
    let spirv = call.callee().is_some_and(|c| c.contains("__spirv_ControlBarrier"));
    // CLK_LOCAL_MEM_FENCE; SPIR-V's memory semantics WorkgroupMemory with AcquireRelease.
    let (operand, bits) = if spirv { (2, 0x108) } else { (0, 1) };
    // SAFETY: alive; barriers take their flags as an integer there.
    unsafe {
        let flags = LLVMGetOperand(call.0, operand);
        if ir::as_instruction(flags).is_none() && !LLVMIsAConstantInt(flags).is_null() {
            let all = LLVMConstIntGetZExtValue(flags) | bits;
            LLVMSetOperand(call.0, operand, LLVMConstInt(LLVMTypeOf(flags), all, 0));
        } else {
            let all = LLVMBuildOr(emitter.builder, flags, LLVMConstInt(LLVMTypeOf(flags), bits, 0), c"".as_ptr());
            LLVMSetOperand(call.0, operand, all);
        }
    }
}
