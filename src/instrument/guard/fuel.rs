//! Fuel: every iteration of a loop costs one; without any, the loop is left. Loops that hold barriers are left only when
//! the work-group agrees (see `runtime-cl/guard.cl`).

use std::collections::{BTreeSet, HashMap, HashSet};

use inkwell::module::Module;
use llvm_sys::LLVMIntPredicate::LLVMIntSLT;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};

use super::builtin_accesses::{self, Meeting};
use super::emit::Emitter;
use super::loops::{Loop, Loops};
use crate::error::Result;
use crate::instrument::layout::FaultKind;
use crate::kernel::ir::{self, Block, DebugLocation, Function, Inst};

/// Iterations that an item without fuel may still make in loops that hold barriers, until it meets the others at one.
const GRACE: i32 = 1 << 12;

/// The local memory of [`Group`].
const LOCAL: u32 = 3;

/// What the items of a group agree with.
struct Group {
    flags: LLVMValueRef,
    turn: LLVMValueRef,
    floor: LLVMValueRef,
}

/// Where a loop keeps its fault if a work-item runs out of fuel in it.
#[derive(Clone, Copy)]
struct Spent {
    /// With what notes it; `None`: nothing is noted.
    variable: Option<(LLVMValueRef, Function)>,
    code: u32,
}

/// Where loops begin in the source, by the terminators that lead back to their heads.
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

/// Adds the guards of all loops. `end` is the block in which the kernel returns; it begins with no phi. `spent` is the
/// variable for the fault of the loop in which the fuel ran out, `places` gets where that loop begins. Unless `noting`, the
/// variable only tells of a kernel's only loop. Whether the group has to meet at the kernel's entry.
pub fn guard(
    emitter: &Emitter<'_, '_>,
    end: Block,
    spent: LLVMValueRef,
    noting: bool,
    starts: &HashMap<Inst, DebugLocation>,
    places: &mut Vec<Option<DebugLocation>>,
) -> Result<bool> {
    let loops = Loops::of(emitter.kernel);
    let note = emitter.runtime("__kassay_left")?;
    let variable = noting.then_some((spent, note));
    let meetings = meetings(emitter);
    let met: HashSet<Block> = meetings.iter().map(|(call, _)| call.block()).collect();
    let met: BTreeSet<usize> = (0..loops.blocks.len()).filter(|b| met.contains(&loops.blocks[*b])).collect();
    let meets = |l: &Loop| !l.blocks.is_disjoint(&met);
    let group = match loops.all.iter().any(meets) {
        true => Some(agree(emitter, &meetings)?),
        false => None,
    };
    let mut at_latch = Vec::new();
    for (number, l) in loops.all.iter().enumerate() {
        let floor = group.as_ref().filter(|_| meets(l)).map(|g| g.floor);
        let latches = l.latches.iter().filter_map(|b| starts.get(&loops.blocks[*b].terminator()));
        let code = (places.len() as u32) << 8 | FaultKind::Fuel as u32;
        places.push(latches.min().cloned());
        if !noting && loops.all.len() == 1 && loops.irregular.is_empty() {
            emitter.at_entry();
            // SAFETY: alive; the variable holds a 32-bit integer.
            unsafe { LLVMBuildStore(emitter.builder, emitter.number(code), spent) };
        }
        let spent = Spent { variable, code };
        match loops.decider(number) {
            Some((block, leaves)) => decide(emitter, block, leaves, floor, spent),
            None => at_latch.push((l, floor, spent)),
        }
    }
    for (l, floor, spent) in at_latch {
        // Nobody waits for those who go straight to the end of a kernel without barriers.
        let exit = if meetings.is_empty() { None } else { loops.exit(l) };
        let blocks: BTreeSet<LLVMBasicBlockRef> = l.blocks.iter().map(|b| loops.blocks[*b].0).collect();
        if exit.is_some() {
            demote(emitter, &loops, &blocks);
        }
        let header = loops.blocks[l.header];
        for latch in &l.latches {
            let latch = loops.blocks[*latch];
            for (way, _) in (0..).zip(latch.terminator().successors()).filter(|(_, s)| *s == header) {
                leave_on(emitter, latch, way, exit.unwrap_or(end), floor, spent);
            }
        }
    }
    let nowhere = Spent { variable, code: FaultKind::Fuel as u32 };
    for (from, way) in &loops.irregular {
        leave_on(emitter, loops.blocks[*from], *way, end, None, nowhere);
    }
    Ok(group.is_some())
}

/// Burns one unit; whether none is left.
fn burn(emitter: &Emitter<'_, '_>, floor: Option<LLVMValueRef>) -> LLVMValueRef {
    // SAFETY: alive; all are 32-bit integers.
    unsafe {
        let left = emitter.load(emitter.int, emitter.fuel);
        let left = LLVMBuildAdd(emitter.builder, left, emitter.number(u32::MAX), c"".as_ptr());
        LLVMBuildStore(emitter.builder, left, emitter.fuel);
        let floor = floor.map_or_else(|| emitter.number(0), |variable| emitter.load(emitter.int, variable));
        emitter.compare(LLVMIntSLT, left, floor)
    }
}

/// Adds the fuel to a condition that leaves the loop if it is `leaves == 0`.
fn decide(emitter: &Emitter<'_, '_>, block: Block, leaves: u32, floor: Option<LLVMValueRef>, spent: Spent) {
    let branch = block.terminator();
    emitter.before(branch.0);
    let none = burn(emitter, floor);
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
    if let Some(way) = note(emitter, exit, spent) {
        // SAFETY: alive; the new block takes the edge's place in the terminator and in the phis of its target.
        unsafe { LLVMSetSuccessor(branch.0, leaves, way.0) };
        come_from(emitter, exit, block, way);
    }
}

/// A block in front of `exit`, and leading there, that notes the loop if the fuel ran out in it.
fn note(emitter: &Emitter<'_, '_>, exit: Block, spent: Spent) -> Option<Block> {
    let (variable, note) = spent.variable?;
    let way = emitter.block_before(exit, c"kassay.left");
    emitter.at_end(way);
    let fuel = emitter.load(emitter.int, emitter.fuel);
    emitter.call(note, &mut [variable, fuel, emitter.number(spent.code)]);
    // SAFETY: alive; the block had no terminator.
    unsafe { LLVMBuildBr(emitter.builder, exit.0) };
    Some(way)
}

/// One entry of each phi of `block` that came from `old` comes from `new`.
fn come_from(emitter: &Emitter<'_, '_>, block: Block, old: Block, new: Block) {
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

/// Puts a test of the fuel on an edge; without fuel, `exit` is next.
fn leave_on(emitter: &Emitter<'_, '_>, from: Block, way: u32, exit: Block, floor: Option<LLVMValueRef>, spent: Spent) {
    let terminator = from.terminator();
    let to = terminator.successors()[way as usize];
    let test = emitter.block_before(to, c"kassay.fuel");
    emitter.at_end(test);
    let none = burn(emitter, floor);
    let noted = note(emitter, exit, spent);
    emitter.at_end(test);
    let out = noted.unwrap_or(exit);
    // SAFETY: alive; the new block takes the edge's place in the terminator and in the phis of its target.
    unsafe {
        LLVMBuildCondBr(emitter.builder, none, out.0, to.0);
        LLVMSetSuccessor(terminator.0, way, test.0);
        come_from(emitter, to, from, test);
        for phi in phis(exit) {
            let ty = LLVMTypeOf(phi.0);
            let mut nothing = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMTargetExtTypeKind => LLVMGetUndef(ty),
                _ => LLVMConstNull(ty),
            };
            LLVMAddIncoming(phi.0, &mut nothing, &mut { noted.unwrap_or(test).0 }, 1);
        }
    }
}

fn phis(block: Block) -> Vec<Inst> {
    block.instructions().into_iter().take_while(|i| i.opcode() == LLVMOpcode::LLVMPHI).collect()
}

/// Rebuilds a phi with entries changed by `change`, which is told whether it changed one already.
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

/// Keeps what the loop computes for the code behind it in variables, so that it can be left from anywhere.
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

/// Where all items of a group meet.
fn meetings(emitter: &Emitter<'_, '_>) -> Vec<(Inst, Meeting)> {
    let calls = emitter.kernel.blocks().into_iter().flat_map(|b| b.instructions());
    calls.filter_map(|i| Some((i, builtin_accesses::meets(&i.callee()?)?))).collect()
}

/// Lets the items of a group agree at every meeting.
fn agree(emitter: &Emitter<'_, '_>, meetings: &[(Inst, Meeting)]) -> Result<Group> {
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
    let group = Group {
        flags,
        turn: emitter.variable(emitter.number(0)),
        floor: emitter.variable(emitter.number(GRACE.wrapping_neg() as u32)),
    };
    for (call, meeting) in meetings {
        emitter.before(call.0);
        emitter.call(arrive, &mut [group.flags, group.turn, emitter.fuel]);
        match meeting {
            Meeting::Barrier => fence_local(emitter, *call),
            Meeting::Other => {
                emitter.call(meet, &mut []);
            }
        }
        // SAFETY: alive; a call is no terminator.
        emitter.before(unsafe { LLVMGetNextInstruction(call.0) });
        emitter.call(agreed, &mut [group.flags, group.turn, group.floor]);
    }
    Ok(group)
}

/// Makes a barrier one for local memory too.
fn fence_local(emitter: &Emitter<'_, '_>, call: Inst) {
    let spirv = call.callee().is_some_and(|c| c.contains("__spirv_ControlBarrier"));
    // CLK_LOCAL_MEM_FENCE; SPIR-V's memory semantics WorkgroupMemory, released and acquired.
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
