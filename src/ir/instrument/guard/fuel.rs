//! Limits loop iterations: each costs one unit of fuel, and a loop is left when there is none. Loops that contain
//! barriers are left only when the work-group agrees (see `runtime-cl/guard.cl`).

use std::collections::{BTreeSet, HashMap, HashSet};

use kassay_base::error::Result;

use super::builtin_accesses::{self, GroupSync};
use super::emit::Emitter;
use super::loops::{Loop, Loops};
use crate::instrument::layout::FaultKind;
use crate::kernel::builtins::Builtin;
use crate::llvm::{AddressSpace, Block, DebugLocation, Function, Inst, IntPredicate, Linkage, Opcode, Value, View};

/// Iterations that an item without fuel may still execute in loops that contain barriers, until it reaches a barrier
/// together with the others.
const GRACE: i32 = 1 << 12;

/// The variables through which the items of a group agree.
struct GroupAgreement<'m> {
    flags: Value<'m>,
    turn: Value<'m>,
    floor: Value<'m>,
}

/// The code that records the fault of a loop in which a work-item runs out of fuel.
#[derive(Clone, Copy)]
struct ExhaustionRecord<'m> {
    /// The variable and the function that sets it; `None`: nothing is recorded.
    variable: Option<(Value<'m>, Function<'m>)>,
    code: u32,
}

/// Returns the locations of loops in the source by the terminators of their latches.
pub fn starts<'m>(view: View<'m>, kernel: Function<'m>) -> HashMap<Inst<'m>, DebugLocation> {
    let kind = view.metadata_kind("llvm.loop");
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
pub fn guard<'m>(
    emitter: &Emitter<'m>,
    end: Block<'m>,
    spent: Value<'m>,
    record_loops: bool,
    starts: &HashMap<Inst<'m>, DebugLocation>,
    places: &mut Vec<Option<DebugLocation>>,
) -> Result<bool> {
    let loops = Loops::of(emitter.kernel);
    let blocks = &loops.blocks;
    let record = emitter.runtime("__kassay_left")?;
    let variable = record_loops.then_some((spent, record));
    let sync_calls = sync_calls(emitter);
    let sync_blocks: HashSet<Block> = sync_calls.iter().map(|(call, _)| call.block()).collect();
    let sync_blocks: BTreeSet<usize> = (0..blocks.len()).filter(|b| sync_blocks.contains(&blocks[*b])).collect();
    let synchronises = |l: &Loop| !l.blocks.is_disjoint(&sync_blocks);
    let group = match loops.all.iter().any(synchronises) {
        true => Some(agree_on_leaving(emitter, &sync_calls)?),
        false => None,
    };
    let mut at_latch = Vec::new();
    for (number, l) in loops.all.iter().enumerate() {
        let floor = group.as_ref().filter(|_| synchronises(l)).map(|g| g.floor);
        let latches = l.latches.iter().filter_map(|b| starts.get(&blocks[*b].terminator()));
        let code = (places.len() as u32) << 8 | FaultKind::Fuel as u32;
        places.push(latches.min().cloned());
        if !record_loops && loops.all.len() == 1 && loops.irregular.is_empty() {
            emitter.at_entry();
            emitter.builder.store(emitter.const_i32(code), spent);
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
        if exit.is_some() {
            demote(emitter, blocks, &l.blocks.iter().map(|b| blocks[*b]).collect());
        }
        let header = blocks[l.header];
        for latch in &l.latches {
            let latch = blocks[*latch];
            for (successor, _) in (0..).zip(latch.terminator().successors()).filter(|(_, s)| *s == header) {
                guard_edge(emitter, latch, successor, exit.unwrap_or(end), floor, exhaustion);
            }
        }
    }
    let outside_loops = ExhaustionRecord { variable, code: FaultKind::Fuel as u32 };
    for (from, successor) in &loops.irregular {
        guard_edge(emitter, blocks[*from], *successor, end, None, outside_loops);
    }
    Ok(group.is_some())
}

/// Consumes one unit of fuel and returns whether none is left.
fn consume<'m>(emitter: &Emitter<'m>, floor: Option<Value<'m>>) -> Value<'m> {
    let left = emitter.load(emitter.int, emitter.fuel);
    let left = emitter.builder.add(left, emitter.const_i32(u32::MAX), "");
    emitter.builder.store(left, emitter.fuel);
    let floor = floor.map_or_else(|| emitter.const_i32(0), |variable| emitter.load(emitter.int, variable));
    emitter.compare(IntPredicate::LLVMIntSLT, left, floor)
}

/// Adds the fuel test to a branch condition; the branch leaves the loop on successor `leaves`.
fn guard_exit_branch<'m>(
    emitter: &Emitter<'m>,
    block: Block<'m>,
    leaves: u32,
    floor: Option<Value<'m>>,
    exhaustion: ExhaustionRecord<'m>,
) {
    let branch = block.terminator();
    let b = &emitter.builder;
    b.before(branch);
    let none = consume(emitter, floor);
    let condition = branch.condition().expect("a branch with two successors has a condition");
    branch.set_condition(match leaves {
        0 => b.or(condition, none, ""),
        _ => b.and(condition, b.not(none, ""), ""),
    });
    let exit = branch.successors()[leaves as usize];
    if let Some(recording) = record_exhaustion(emitter, exit, exhaustion) {
        branch.set_successor(leaves, recording);
        exit.redirect_phis(block, recording);
    }
}

/// Inserts a block in front of `exit` that records the loop if its fuel ran out there.
fn record_exhaustion<'m>(
    emitter: &Emitter<'m>,
    exit: Block<'m>,
    exhaustion: ExhaustionRecord<'m>,
) -> Option<Block<'m>> {
    let (variable, function) = exhaustion.variable?;
    let recording = exit.insert_before("kassay.left");
    emitter.builder.at_end(recording);
    let fuel = emitter.load(emitter.int, emitter.fuel);
    emitter.call(function, &[variable, fuel, emitter.const_i32(exhaustion.code)]);
    emitter.builder.br(exit);
    Some(recording)
}

/// Inserts a fuel test on an edge; without fuel it branches to `exit`.
fn guard_edge<'m>(
    emitter: &Emitter<'m>,
    from: Block<'m>,
    successor: u32,
    exit: Block<'m>,
    floor: Option<Value<'m>>,
    exhaustion: ExhaustionRecord<'m>,
) {
    let terminator = from.terminator();
    let to = terminator.successors()[successor as usize];
    let test = to.insert_before("kassay.fuel");
    emitter.builder.at_end(test);
    let none = consume(emitter, floor);
    let recording = record_exhaustion(emitter, exit, exhaustion);
    emitter.builder.at_end(test);
    emitter.builder.cond_br(none, recording.unwrap_or(exit), to);
    terminator.set_successor(successor, test);
    to.redirect_phis(from, test);
    for phi in exit.phis() {
        phi.add_incoming(&[(Emitter::nothing(phi.ty()), recording.unwrap_or(test))]);
    }
}

/// Keeps values that are computed in the loop, whose blocks are `inside`, and used after it in variables, so that the
/// loop can be left from any point. `blocks` are those of the kernel.
fn demote<'m>(emitter: &Emitter<'m>, blocks: &[Block<'m>], inside: &HashSet<Block<'m>>) {
    let computed = blocks.iter().filter(|b| inside.contains(*b)).flat_map(|b| b.walk());
    for inst in computed.collect::<Vec<_>>() {
        let mut outside = inst.value().user_instructions();
        outside.retain(|user| match user.is(Opcode::LLVMPHI) {
            true => user.incoming().iter().any(|(value, from)| *value == inst && !inside.contains(from)),
            false => !inside.contains(&user.block()),
        });
        outside.sort_unstable();
        if outside.is_empty() || inst.ty().is_void() {
            continue;
        }
        let ty = inst.ty();
        let variable = emitter.variable(ty.undef());
        match inst.is(Opcode::LLVMPHI) {
            true => emitter.builder.before(inst.block().first_insertion_point()),
            false => emitter.builder.after(inst),
        }
        emitter.builder.store(inst, variable);
        for user in outside {
            if user.is(Opcode::LLVMPHI) {
                load_in_predecessors(emitter, user, inst, variable, inside);
            } else {
                emitter.builder.before(user);
                inst.value().replace_in(&[user.value()], emitter.load(ty, variable));
            }
        }
    }
}

/// Makes a phi load the variable instead of taking `inst`, where that comes from a block that is not `inside`.
fn load_in_predecessors<'m>(
    emitter: &Emitter<'m>,
    phi: Inst<'m>,
    inst: Inst<'m>,
    variable: Value<'m>,
    inside: &HashSet<Block<'m>>,
) {
    for (i, (value, from)) in (0..).zip(phi.incoming()) {
        if value == inst && !inside.contains(&from) {
            emitter.builder.before(from.terminator());
            phi.set_operand(i, emitter.load(phi.ty(), variable));
        }
    }
}

/// Finds the calls at which all items of a group synchronise.
fn sync_calls<'m>(emitter: &Emitter<'m>) -> Vec<(Inst<'m>, GroupSync)> {
    let all = emitter.kernel.instructions().into_iter();
    all.filter_map(|i| Some((i, builtin_accesses::group_sync(&i.callee()?)?))).collect()
}

/// Makes the items of a group agree on leaving at each of these calls.
fn agree_on_leaving<'m>(emitter: &Emitter<'m>, sync_calls: &[(Inst<'m>, GroupSync)]) -> Result<GroupAgreement<'m>> {
    let (begin, arrive, agreed) =
        (emitter.runtime("__kassay_flags")?, emitter.runtime("__kassay_arrive")?, emitter.runtime("__kassay_agree")?);
    let meet = emitter.runtime("__kassay_meet")?;
    let ty = emitter.int.array(2);
    let global = emitter.view.add_global("kassay.flags", ty, AddressSpace::Local);
    global.set_linkage(Linkage::LLVMInternalLinkage);
    global.set_initializer(ty.undef());
    let flags = global.value();
    flags.set_alignment(4);
    emitter.at_entry();
    emitter.call(begin, &[flags]);
    let group = GroupAgreement {
        flags,
        turn: emitter.variable(emitter.const_i32(0)),
        floor: emitter.variable(emitter.const_i32(GRACE.wrapping_neg() as u32)),
    };
    for (call, kind) in sync_calls {
        emitter.builder.before(*call);
        emitter.call(arrive, &[group.flags, group.turn, emitter.fuel.value()]);
        match kind {
            GroupSync::Barrier => fence_local(emitter, *call),
            GroupSync::Other => {
                emitter.call(meet, &[]);
            }
        }
        emitter.builder.after(*call);
        emitter.call(agreed, &[group.flags, group.turn, group.floor]);
    }
    Ok(group)
}

/// Makes a barrier order local memory, too.
fn fence_local<'m>(emitter: &Emitter<'m>, call: Inst<'m>) {
    let spirv = call.callee().and_then(|callee| Builtin::of(&callee)).is_some_and(Builtin::is_spirv);
    // CLK_LOCAL_MEM_FENCE; SPIR-V's memory semantics WorkgroupMemory with AcquireRelease.
    let (operand, bits) = if spirv { (2, 0x108) } else { (0, 1) };
    let flags = call.operand(operand);
    call.set_operand(operand, emitter.builder.or(flags, flags.ty().int(bits), ""));
}
