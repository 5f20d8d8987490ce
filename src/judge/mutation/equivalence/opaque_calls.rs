//! Inserts opaque calls where an optimiser would otherwise read "undefined" as "any value", or remove what a guarded
//! run would observe: uninitialised variables, division by zero, over-wide shifts, out-of-range conversions, loop
//! iterations, accesses that may be out of bounds.

use std::collections::HashSet;

use kassay_ir::llvm::{AttributeIndex, Block, Builder, DataLayout, Function, Inst, Opcode, Type, Value, View};

/// Prefix of every opaque function.
const PREFIX: &str = "__kassay_";
/// What the names of all calls begin with that stand for uninitialised contents.
pub const UNKNOWN_CONTENTS: &str = "__kassay_uninitialised";
/// The value of an uninitialised scalar or vector.
pub const UNINITIALISED: &str = "__kassay_uninitialised.";
const UNINITIALISED_AGGREGATE: &str = "__kassay_uninitialised_aggregate.";
const UNINITIALISED_MEMORY: &str = "__kassay_uninitialised_memory";

/// Aggregates up to this many bytes are initialised as a value, so that their fields can be promoted.
const MAX_AGGREGATE: u64 = 64;

/// LLVM's encodings of the `memory` attribute: no memory at all; only memory that is inaccessible to IR.
const MEMORY_NONE: u64 = 0;
const MEMORY_INACCESSIBLE: u64 = 0b1100;

/// What the optimiser may assume about calls of an opaque function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The result depends on the arguments alone.
    Pure,
    /// Each call is observable, in order with those of other opaque functions, and may end the run.
    Observable,
    /// It may also read and write any memory.
    Any,
}

/// Builds calls of opaque functions.
pub struct OpaqueCalls<'m> {
    module: View<'m>,
    builder: Builder<'m>,
    layout: DataLayout<'m>,
}

impl<'m> OpaqueCalls<'m> {
    /// Creates a builder for a module.
    pub fn new(module: View<'m>) -> OpaqueCalls<'m> {
        OpaqueCalls { module, builder: module.builder(), layout: module.layout() }
    }

    /// Inserts the calls that are needed before anything is folded.
    pub fn before_inlining(&self) {
        let mut variables = 0;
        for inst in self.module.instructions() {
            match inst.opcode() {
                Opcode::LLVMAlloca => {
                    self.initialise(inst, variables);
                    variables += 1;
                }
                Opcode::LLVMUnreachable => {
                    self.call_before(inst, "__kassay_unreachable", self.module.void_type(), &[], Effect::Any);
                }
                Opcode::LLVMCall if inst.callee().as_deref() == Some("llvm.assume") => {
                    inst.erase();
                }
                _ if may_trap(inst) => self.replace(inst),
                _ => {}
            }
        }
    }

    /// Replaces, after inlining and promotion, the calls that turned out to be unnecessary, now that constants and
    /// addresses are visible; marks accesses, exposed variables and loop iterations.
    pub fn after_inlining(&self) {
        self.restore_all();
        for inst in self.module.instructions() {
            self.keep_access(inst);
        }
        for alloca in self.module.instructions().into_iter().filter(|i| i.is(Opcode::LLVMAlloca)) {
            if !self.is_only_accessed_inside(alloca) {
                self.expose(alloca);
            }
        }
        let void = self.module.void_type();
        for f in self.module.functions().into_iter().filter(|f| f.has_body()) {
            for header in loop_headers(f) {
                self.call_before(header.first_insertion_point(), "__kassay_iteration", void, &[], Effect::Observable);
            }
        }
    }

    /// Returns whether a variable is only used by plain accesses to parts of it.
    fn is_only_accessed_inside(&self, alloca: Inst<'m>) -> bool {
        let mut todo = vec![alloca];
        while let Some(pointer) = todo.pop() {
            for user in pointer.value().uses() {
                let Some(user) = user.as_instruction() else { return false };
                let is_inside = match user.opcode() {
                    Opcode::LLVMLoad => !user.is_volatile(),
                    Opcode::LLVMStore => !user.is_volatile() && user.operand(0) != pointer,
                    Opcode::LLVMGetElementPtr => {
                        todo.push(user);
                        self.constant_offset(user).is_some()
                    }
                    Opcode::LLVMCall => {
                        let copies = user.callee().is_some_and(|name| block_pointers(&name).is_some());
                        copies && user.operand(3).as_bool() == Some(false)
                    }
                    _ => false,
                };
                if !is_inside {
                    return false;
                }
            }
        }
        true
    }

    /// Keeps a variable in memory: passes would drop even volatile accesses past the end of a variable that they can
    /// split up.
    fn expose(&self, alloca: Inst<'m>) {
        let name = format!("__kassay_expose.{}", space_number(alloca));
        self.call_before(after(alloca), &name, self.module.void_type(), &[alloca.value()], Effect::Any);
    }

    /// Inserts a call of the opaque function `name` before an instruction and declares it if necessary. Returns
    /// the call.
    fn call_before(
        &self,
        before: Inst<'m>,
        name: &str,
        result: Type<'m>,
        args: &[Value<'m>],
        effect: Effect,
    ) -> Inst<'m> {
        let types: Vec<Type<'m>> = args.iter().map(|arg| arg.ty()).collect();
        let ty = result.function(&types, false);
        let f = self.module.function(name).unwrap_or_else(|| self.declare(name, ty, effect));
        self.builder.before(before);
        self.builder.call_as(ty, f, args, "")
    }

    fn declare(&self, name: &str, ty: Type<'m>, effect: Effect) -> Function<'m> {
        let attributes: &[(&str, u64)] = match effect {
            Effect::Pure => &[("nounwind", 0), ("willreturn", 0), ("memory", MEMORY_NONE)],
            Effect::Observable => &[("nounwind", 0), ("nomerge", 0), ("memory", MEMORY_INACCESSIBLE)],
            Effect::Any => &[("nounwind", 0), ("nomerge", 0)],
        };
        let f = self.module.add_function(name, ty);
        for (attribute, value) in attributes {
            f.attributes(AttributeIndex::Function).add_number(attribute, *value);
        }
        f
    }

    /// Gives a variable an opaque initial value, identified by the variable's number.
    fn initialise(&self, alloca: Inst<'m>, number: u64) {
        let Some(ty) = alloca.allocated_type() else { return };
        let next = after(alloca);
        let id = self.module.int_type(32).int(number);
        let is_aggregate = ty.is_array() || ty.is_struct();
        let is_single = alloca.operand(0).as_u64() == Some(1);
        if !is_single || (is_aggregate && self.layout.abi_size(ty) > MAX_AGGREGATE) {
            let name = format!("{UNINITIALISED_MEMORY}.{}", space_number(alloca));
            self.call_before(next, &name, self.module.void_type(), &[alloca.value(), id], Effect::Any);
            return;
        }
        let prefix = if is_aggregate { UNINITIALISED_AGGREGATE } else { UNINITIALISED };
        let value = self.call_before(next, &format!("{prefix}{}", ty.text()), ty, &[id], Effect::Pure);
        self.builder.before(next);
        self.builder.store(value, alloca);
    }

    /// Replaces an instruction that may trap or yield poison by an opaque call.
    fn replace(&self, inst: Inst<'m>) {
        let (ty, operands) = (inst.ty(), inst.operands());
        let name = format!("{PREFIX}{:?}.{}.{}", inst.opcode(), operands[0].ty().text(), ty.text());
        let effect = if is_division(inst.opcode()) { Effect::Observable } else { Effect::Pure };
        let call = self.call_before(inst, &name, ty, &operands, effect);
        inst.replace_and_erase(call);
    }

    /// Turns opaque divisions and shifts back into instructions where their right operands are harmless constants.
    pub fn restore_all(&self) {
        self.module.instructions().into_iter().for_each(|inst| self.restore(inst));
    }

    /// Turns an opaque division or shift back into an instruction if its right operand is a harmless constant.
    fn restore(&self, call: Inst<'m>) {
        let Some(name) = call.callee() else { return };
        let Some(rest) = name.strip_prefix(PREFIX) else { return };
        let opcode = RESTORABLE.into_iter().find(|opcode| rest.starts_with(&format!("{opcode:?}.")));
        let Some(opcode) = opcode.filter(|opcode| is_harmless(*opcode, call.operand(1))) else { return };
        self.builder.before(call);
        let value = self.builder.binary(opcode, call.operand(0), call.operand(1), "");
        call.replace_and_erase(value);
    }

    /// Keeps an access as it is, in order with other accesses, by making it volatile, except for accesses to private
    /// variables that are certainly in bounds.
    fn keep_access(&self, inst: Inst<'m>) {
        let is_kept = |pointer, accessed| !self.is_inside(pointer, self.layout.store_size(accessed));
        match inst.opcode() {
            Opcode::LLVMLoad => inst.set_volatile(is_kept(inst.operand(0), inst.ty())),
            Opcode::LLVMStore => inst.set_volatile(is_kept(inst.operand(1), inst.operand(0).ty())),
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => inst.set_volatile(true),
            Opcode::LLVMCall => self.keep_block_access(inst),
            _ => {}
        }
    }

    /// Makes an `llvm.memcpy`, `memmove` or `memset` volatile, unless it is certainly in bounds.
    fn keep_block_access(&self, call: Inst<'m>) {
        let Some(pointers) = call.callee().and_then(|name| block_pointers(&name)) else { return };
        // The operands are: pointer, pointer or byte, length, whether it is volatile.
        let length = call.operand(2).as_u64();
        let is_inside = |i| length.is_some_and(|length| self.is_inside(call.operand(i), length));
        if !(0..pointers).all(is_inside) {
            call.set_operand(3, self.module.int_type(1).int(1));
        }
    }

    /// Returns whether `size` bytes at the pointer lie within one private variable, in all executions.
    fn is_inside(&self, pointer: Value<'m>, size: u64) -> bool {
        let (mut base, mut offset) = (pointer, 0i128);
        while let Some(gep) = base.as_opcode(Opcode::LLVMGetElementPtr) {
            let Some(step) = self.constant_offset(gep) else { return false };
            offset += step;
            base = gep.operand(0);
        }
        let Some(alloca) = base.as_opcode(Opcode::LLVMAlloca) else { return false };
        let (Some(count), Some(ty)) = (alloca.operand(0).as_u64(), alloca.allocated_type()) else { return false };
        let whole = i128::from(self.layout.abi_size(ty)) * i128::from(count);
        offset >= 0 && offset + i128::from(size) <= whole
    }

    /// Returns the offset of a GEP in bytes, if it is constant. Unlike [`DataLayout::constant_offset`], this also
    /// counts elements that memory cannot hold, such as events.
    fn constant_offset(&self, gep: Inst<'m>) -> Option<i128> {
        let mut ty = gep.value().gep_source()?;
        let mut offset = 0i128;
        // Each index selects within the type before it.
        for (i, index) in gep.operands().into_iter().skip(1).enumerate() {
            let index = index.as_i64()?;
            if i > 0 && ty.is_struct() {
                offset += i128::from(self.layout.field_offset(ty, index as u32));
                ty = ty.fields()[index as usize];
                continue;
            }
            if i > 0 {
                ty = ty.elements()?.0;
            }
            offset += i128::from(self.layout.abi_size(ty)) * i128::from(index);
        }
        Some(offset)
    }
}

/// Returns the instruction after a variable, which never ends its block.
fn after(alloca: Inst<'_>) -> Inst<'_> {
    alloca.next().expect("a block ends with a terminator")
}

/// Returns LLVM's number of a variable's address space.
fn space_number(alloca: Inst<'_>) -> u32 {
    alloca.ty().address_space().unwrap_or_default()
}

/// Returns how many pointers an intrinsic takes that copies or fills memory; `None` for other functions.
fn block_pointers(name: &str) -> Option<u32> {
    if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
        Some(2)
    } else {
        name.starts_with("llvm.memset.").then_some(1)
    }
}

const RESTORABLE: [Opcode; 7] = [
    Opcode::LLVMSDiv,
    Opcode::LLVMUDiv,
    Opcode::LLVMSRem,
    Opcode::LLVMURem,
    Opcode::LLVMShl,
    Opcode::LLVMLShr,
    Opcode::LLVMAShr,
];

fn is_division(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMSRem | Opcode::LLVMURem)
}

/// Returns whether an instruction traps, or yields poison, for some operands.
fn may_trap(inst: Inst<'_>) -> bool {
    use Opcode::{LLVMFPToSI, LLVMFPToUI};
    match inst.opcode() {
        LLVMFPToSI | LLVMFPToUI => true,
        opcode if RESTORABLE.contains(&opcode) => {
            let right = inst.operand(1);
            !is_harmless(opcode, right) && (is_division(opcode) || !is_masked(right))
        }
        _ => false,
    }
}

/// Returns whether a constant divisor or shift amount is defined for every left operand.
fn is_harmless(opcode: Opcode, right: Value<'_>) -> bool {
    let is_signed = matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMSRem);
    let lanes = lanes(right);
    let is_defined = |lane: Value<'_>| match (lane.as_u64(), lane.ty().int_width()) {
        (Some(value), _) if is_division(opcode) => value != 0 && !(is_signed && lane.as_i64() == Some(-1)),
        (Some(value), Some(width)) => value < u64::from(width),
        _ => false,
    };
    !lanes.is_empty() && lanes.into_iter().all(is_defined)
}

/// Returns whether a shift amount is masked as clang does for OpenCL C (6.3.j): modulo the width.
fn is_masked(amount: Value<'_>) -> bool {
    let mask = amount.as_opcode(Opcode::LLVMAnd);
    mask.is_some_and(|mask| mask.operands().into_iter().any(|bits| is_harmless(Opcode::LLVMShl, bits)))
}

/// Returns the value itself, or the elements of a constant vector; nothing if they are unknown.
fn lanes(value: Value<'_>) -> Vec<Value<'_>> {
    match value.ty().lanes() {
        _ if !value.is_constant() => Vec::new(),
        None => vec![value],
        Some(lanes) if value.is_constant_vector() => (0..lanes).filter_map(|i| value.element(i)).collect(),
        Some(_) => Vec::new(),
    }
}

/// Returns the targets of back edges in a depth-first traversal.
fn loop_headers(f: Function<'_>) -> Vec<Block<'_>> {
    let Some(entry) = f.blocks().first().copied() else { return Vec::new() };
    let (mut seen, mut open, mut headers) = (HashSet::from([entry]), HashSet::from([entry]), Vec::new());
    let mut stack = vec![(entry, entry.terminator().successors(), 0)];
    while let Some((block, successors, next)) = stack.pop() {
        let Some(successor) = successors.get(next).copied() else {
            open.remove(&block);
            continue;
        };
        stack.push((block, successors, next + 1));
        if open.contains(&successor) && !headers.contains(&successor) {
            headers.push(successor);
        }
        if seen.insert(successor) {
            open.insert(successor);
            stack.push((successor, successor.terminator().successors(), 0));
        }
    }
    headers
}
