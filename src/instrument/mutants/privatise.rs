//! Makes a `__local` variable private: each work-item gets a copy of its own, initially zero.
//!
//! The address space is part of a pointer's type, so every pointer that is computed from the variable is rebuilt, and
//! so is every use that depends on the address space. Runs after everything is inlined and private variables are
//! promoted. After a refusal the module is unusable.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fmt;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::edit::LocalVariable;
use crate::error::{Error, Result};
use crate::kernel::builtins;
use crate::kernel::canonical;
use crate::kernel::ir::{self, Function, Inst};

const LOCAL: u32 = 3;
const GENERIC: u32 = 4;

/// The reason why a variable has to stay shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// An asynchronous copy, a collective operation of the work-group, reads or writes it.
    AsyncCopy,
    /// A pointer to it escapes the analysis.
    Escapes(String),
    /// A pointer may lead to it or to something else.
    Mixed,
    /// It is the object of an atomic without a plain equivalent.
    Atomic(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::AsyncCopy => f.write_str("an asynchronous copy of the work-group uses it, and needs local memory"),
            Refusal::Escapes(to) => write!(f, "a pointer to it goes to {to}, which needs local memory"),
            Refusal::Mixed => f.write_str("a pointer leads to it or to other local memory"),
            Refusal::Atomic(name) => write!(f, "`{name}` on it has no plain form"),
        }
    }
}

/// Makes `variable` of the kernel `entry` private. `bytes` is its size; for an argument, the launch's.
///
/// # Errors
/// `Internal` if there is no such variable, or the result does not verify. The inner error is the reason why the
/// variable has to stay shared.
pub fn privatise(
    module: &Module<'_>,
    entry: &str,
    variable: &LocalVariable,
    bytes: u64,
) -> Result<std::result::Result<(), Refusal>> {
    let missing = || Error::internal(format!("{entry} has no local variable {variable:?}"));
    let kernel = ir::function(module, entry).filter(|f| f.has_body()).ok_or_else(missing)?;
    // SAFETY: the module is alive; the argument's position is below their number.
    let root = unsafe {
        match variable {
            LocalVariable::Global(name) => {
                let name = CString::new(name.as_str()).map_err(|_| missing())?;
                LLVMGetNamedGlobal(module.as_mut_ptr(), name.as_ptr())
            }
            LocalVariable::Argument(at) if *at < LLVMCountParams(kernel.0) => LLVMGetParam(kernel.0, *at),
            LocalVariable::Argument(_) => std::ptr::null_mut(),
        }
    };
    // SAFETY: the root is not null where its type is asked for.
    if root.is_null() || unsafe { space(root) } != Some(LOCAL) {
        return Err(missing());
    }
    // SAFETY: the module, the kernel and the root are alive; the builder is disposed of once.
    let done = unsafe {
        let raw = module.as_mut_ptr();
        let context = LLVMGetModuleContext(raw);
        let builder = LLVMCreateBuilderInContext(context);
        let mut pass =
            Pass { module: raw, context, builder, kernel, private_pointers: HashMap::new(), phis: Vec::new() };
        let done = pass.run(root, bytes);
        LLVMDisposeBuilder(builder);
        done
    };
    if let Err(refusal) = done {
        return Ok(Err(refusal));
    }
    canonical::verify(module, "making a local variable private")?;
    Ok(Ok(()))
}

/// The state of privatising one variable.
pub(super) struct Pass {
    pub(super) module: LLVMModuleRef,
    pub(super) context: LLVMContextRef,
    pub(super) builder: LLVMBuilderRef,
    kernel: Function,
    /// Private pointers by the local pointers that they replace.
    pub(super) private_pointers: HashMap<LLVMValueRef, LLVMValueRef>,
    /// Local phis whose private counterparts have no incoming values yet.
    phis: Vec<LLVMValueRef>,
}

/// The result of a step of the pass.
pub(super) type PassResult<T> = std::result::Result<T, Refusal>;

/// The address space of a pointer.
unsafe fn space(value: LLVMValueRef) -> Option<u32> {
    // SAFETY: the caller's value is alive.
    unsafe {
        let ty = LLVMTypeOf(value);
        (LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMPointerTypeKind).then(|| LLVMGetPointerAddressSpace(ty))
    }
}

/// All methods: the module is alive, and so are the values given.
impl Pass {
    unsafe fn run(&mut self, root: LLVMValueRef, bytes: u64) -> PassResult<()> {
        // SAFETY: see the impl.
        unsafe {
            let is_global = !LLVMIsAGlobalVariable(root).is_null();
            let frozen = if is_global { self.materialise_constants(root)? } else { Vec::new() };
            let derived = self.derived(root, frozen)?;
            let ty = match is_global {
                true => LLVMGlobalGetValueType(root),
                false => self.array_for(&derived, bytes),
            };
            let private = self.variable(ty);
            self.private_pointers.insert(root, private);
            for pointer in &derived {
                self.private(*pointer)?;
            }
            self.complete_phis()?;
            for pointer in &derived {
                for user in instruction_users(*pointer) {
                    if !derived.contains(&user) {
                        self.redirect(user)?;
                    }
                }
            }
            // The remaining local pointers are only used by each other.
            for old in derived.iter().filter(|old| **old != root) {
                LLVMReplaceAllUsesWith(*old, LLVMGetPoison(LLVMTypeOf(*old)));
            }
            for old in derived.iter().filter(|old| **old != root) {
                LLVMInstructionEraseFromParent(*old);
            }
            if is_global && LLVMGetFirstUse(root).is_null() {
                LLVMDeleteGlobal(root);
            }
            Ok(())
        }
    }

    /// Replaces constant expressions of the variable in operands by instructions. Local pointers stay constants wrapped
    /// in a `freeze`; these are returned.
    unsafe fn materialise_constants(&mut self, root: LLVMValueRef) -> PassResult<Vec<LLVMValueRef>> {
        // SAFETY: see the impl; instructions are listed before any is inserted.
        unsafe {
            let mut work = vec![root];
            let mut constants = HashSet::new();
            while let Some(value) = work.pop() {
                for user in ir::users(value) {
                    if !LLVMIsAInstruction(user).is_null() {
                        if LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) != self.kernel.0 {
                            return Err(Refusal::Escapes("a function that is not inlined".into()));
                        }
                    } else if LLVMIsAConstantExpr(user).is_null() {
                        return Err(Refusal::Escapes("a constant".into()));
                    } else if constants.insert(user) {
                        work.push(user);
                    }
                }
            }
            let mut frozen = Vec::new();
            for inst in self.kernel.blocks().into_iter().flat_map(ir::Block::instructions).collect::<Vec<_>>() {
                // For phis: several edges may come from one block, and their values must be the same.
                let mut built: HashMap<(LLVMBasicBlockRef, LLVMValueRef), LLVMValueRef> = HashMap::new();
                for (i, operand) in inst.operands().into_iter().enumerate() {
                    if !constants.contains(&operand) {
                        continue;
                    }
                    let (block, before) = match inst.opcode() {
                        LLVMOpcode::LLVMPHI => {
                            let from = LLVMGetIncomingBlock(inst.0, i as u32);
                            (from, LLVMGetBasicBlockTerminator(from))
                        }
                        _ => (inst.block().0, inst.0),
                    };
                    let value = match built.get(&(block, operand)) {
                        Some(value) => *value,
                        None => self.materialise(operand, before, &mut frozen)?,
                    };
                    built.insert((block, operand), value);
                    LLVMSetOperand(inst.0, i as u32, value);
                }
            }
            Ok(frozen)
        }
    }

    unsafe fn materialise(
        &mut self,
        constant: LLVMValueRef,
        before: LLVMValueRef,
        frozen: &mut Vec<LLVMValueRef>,
    ) -> PassResult<LLVMValueRef> {
        // SAFETY: see the impl; casts have one operand, and address computations at least one.
        unsafe {
            if space(constant) == Some(LOCAL) {
                self.position_before(before);
                let freeze = LLVMBuildFreeze(self.builder, constant, c"".as_ptr());
                frozen.push(freeze);
                return Ok(freeze);
            }
            let base = self.materialise(LLVMGetOperand(constant, 0), before, frozen)?;
            self.position_before(before);
            match LLVMGetConstOpcode(constant) {
                LLVMOpcode::LLVMGetElementPtr => Ok(self.gep(constant, base)),
                opcode @ (LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMPtrToInt) => {
                    Ok(LLVMBuildCast(self.builder, opcode, base, LLVMTypeOf(constant), c"".as_ptr()))
                }
                _ => Err(Refusal::Escapes("a constant expression".into())),
            }
        }
    }

    /// Returns all local pointers that are computed from the variable, beginning with the variable.
    unsafe fn derived(&self, root: LLVMValueRef, frozen: Vec<LLVMValueRef>) -> PassResult<Vec<LLVMValueRef>> {
        let mut all = vec![root];
        all.extend(frozen);
        let mut next = 0;
        // SAFETY: see the impl.
        unsafe {
            while let Some(pointer) = all.get(next).copied() {
                next += 1;
                for user in instruction_users(pointer) {
                    let is_pointer =
                        space(user) == Some(LOCAL) && LLVMGetInstructionOpcode(user) != LLVMOpcode::LLVMCall;
                    let loads = LLVMGetInstructionOpcode(user) == LLVMOpcode::LLVMLoad;
                    if is_pointer && !loads && !all.contains(&user) {
                        all.push(user);
                    }
                }
            }
        }
        Ok(all)
    }

    /// Type of the memory of an argument: an array of the type that is accessed in it.
    unsafe fn array_for(&self, derived: &[LLVMValueRef], bytes: u64) -> LLVMTypeRef {
        // SAFETY: see the impl.
        unsafe {
            let layout = llvm_sys::target::LLVMGetModuleDataLayout(self.module);
            let element = derived.iter().flat_map(|pointer| instruction_users(*pointer)).find_map(|user| {
                let ty = match LLVMGetInstructionOpcode(user) {
                    LLVMOpcode::LLVMGetElementPtr => LLVMGetGEPSourceElementType(user),
                    LLVMOpcode::LLVMLoad => LLVMTypeOf(user),
                    LLVMOpcode::LLVMStore => LLVMTypeOf(LLVMGetOperand(user, 0)),
                    _ => return None,
                };
                (LLVMTypeIsSized(ty) != 0).then_some(ty)
            });
            let element = element.unwrap_or_else(|| LLVMInt8TypeInContext(self.context));
            let size = llvm_sys::target::LLVMABISizeOfType(layout, element).max(1);
            LLVMArrayType2(element, bytes.div_ceil(size).max(1))
        }
    }

    /// Creates the private variable, initially zero: reads of values that other items wrote then give the same
    /// in every run.
    unsafe fn variable(&self, ty: LLVMTypeRef) -> LLVMValueRef {
        // SAFETY: see the impl; the kernel has a body.
        unsafe {
            let entry = self.kernel.blocks()[0];
            let first = entry.first_insertion_point().0;
            LLVMPositionBuilderBefore(self.builder, first);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
            let variable = LLVMBuildAlloca(self.builder, ty, c"private".as_ptr());
            // 16 bytes, for accesses as vectors.
            LLVMSetAlignment(variable, 16);
            let code = entry.instructions().into_iter().find(|inst| inst.opcode() != LLVMOpcode::LLVMAlloca);
            LLVMPositionBuilderBefore(self.builder, code.unwrap_or_else(|| entry.terminator()).0);
            let store = LLVMBuildStore(self.builder, LLVMConstNull(ty), variable);
            LLVMSetAlignment(store, 16);
            variable
        }
    }

    /// Positions the builder in front of an instruction, with its debug location.
    pub(super) unsafe fn position_before(&self, before: LLVMValueRef) {
        // SAFETY: see the impl.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, before);
            let location = llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(before);
            LLVMSetCurrentDebugLocation2(self.builder, location);
        }
    }

    /// Builds the same address computation on another base.
    unsafe fn gep(&self, old: LLVMValueRef, base: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: see the impl; operands are below their count.
        unsafe {
            let count = LLVMGetNumOperands(old).max(1) as u32;
            let mut indices: Vec<LLVMValueRef> = (1..count).map(|i| LLVMGetOperand(old, i)).collect();
            let source = LLVMGetGEPSourceElementType(old);
            let new = LLVMBuildGEP2(self.builder, source, base, indices.as_mut_ptr(), count - 1, c"".as_ptr());
            if !LLVMIsAInstruction(new).is_null() {
                LLVMSetIsInBounds(new, LLVMIsInBounds(old));
            }
            new
        }
    }

    /// Returns the private pointer for a local one.
    unsafe fn private(&mut self, old: LLVMValueRef) -> PassResult<LLVMValueRef> {
        // SAFETY: see the impl. Pointers that depend on each other do so through a phi, which is entered first.
        unsafe {
            if let Some(new) = self.private_pointers.get(&old) {
                return Ok(*new);
            }
            let ty = LLVMPointerTypeInContext(self.context, 0);
            if !LLVMIsAConstantExpr(old).is_null() {
                // In front of the instruction at which the builder is positioned.
                let base = self.private(LLVMGetOperand(old, 0))?;
                return match LLVMGetConstOpcode(old) {
                    LLVMOpcode::LLVMGetElementPtr => Ok(self.gep(old, base)),
                    _ => Err(Refusal::Escapes("a constant expression".into())),
                };
            }
            if LLVMIsNull(old) != 0 {
                return Ok(LLVMConstNull(ty));
            }
            if LLVMIsUndef(old) != 0 {
                return Ok(LLVMGetPoison(ty));
            }
            if LLVMIsAInstruction(old).is_null() {
                return Err(Refusal::Mixed);
            }
            let new = match LLVMGetInstructionOpcode(old) {
                LLVMOpcode::LLVMPHI => {
                    LLVMPositionBuilderBeforeInstrAndDbgRecords(self.builder, old);
                    let location = llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(old);
                    LLVMSetCurrentDebugLocation2(self.builder, location);
                    self.phis.push(old);
                    LLVMBuildPhi(self.builder, ty, c"".as_ptr())
                }
                LLVMOpcode::LLVMGetElementPtr => {
                    let base = self.private(LLVMGetOperand(old, 0))?;
                    self.position_before(old);
                    self.gep(old, base)
                }
                LLVMOpcode::LLVMSelect => {
                    let (yes, no) = (self.private(LLVMGetOperand(old, 1))?, self.private(LLVMGetOperand(old, 2))?);
                    self.position_before(old);
                    LLVMBuildSelect(self.builder, LLVMGetOperand(old, 0), yes, no, c"".as_ptr())
                }
                LLVMOpcode::LLVMFreeze => {
                    self.position_before(old);
                    self.private(LLVMGetOperand(old, 0))?
                }
                _ => return Err(Refusal::Mixed),
            };
            self.private_pointers.insert(old, new);
            Ok(new)
        }
    }

    unsafe fn complete_phis(&mut self) -> PassResult<()> {
        // SAFETY: see the impl; indices are below the count of what comes in.
        unsafe {
            while let Some(old) = self.phis.pop() {
                let new = self.private_pointers[&old];
                for i in 0..LLVMCountIncoming(old) {
                    let (value, block) = (LLVMGetIncomingValue(old, i), LLVMGetIncomingBlock(old, i));
                    self.position_before(LLVMGetBasicBlockTerminator(block));
                    let (mut value, mut block) = (self.private(value)?, block);
                    LLVMAddIncoming(new, &mut value, &mut block, 1);
                }
            }
            Ok(())
        }
    }

    /// Makes a user that is not itself a local pointer use the private pointer.
    unsafe fn redirect(&mut self, user: LLVMValueRef) -> PassResult<()> {
        // SAFETY: see the impl; each operand position is one that the instruction has.
        unsafe {
            let private = |pass: &Pass, i: u32| pass.private_pointers.get(&LLVMGetOperand(user, i)).copied();
            match LLVMGetInstructionOpcode(user) {
                LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMPtrToInt => {
                    if let Some(new) = private(self, 0) {
                        LLVMSetOperand(user, 0, new);
                    }
                }
                LLVMOpcode::LLVMStore => {
                    if private(self, 0).is_some() {
                        return Err(Refusal::Escapes("memory".into()));
                    }
                    if let Some(new) = private(self, 1) {
                        LLVMSetOperand(user, 1, new);
                    }
                }
                LLVMOpcode::LLVMICmp => {
                    // If both are pointers to the variable, both are already replaced when the users of the second one
                    // are visited.
                    for i in (0..2).filter(|i| space(LLVMGetOperand(user, *i)) == Some(LOCAL)) {
                        let new = self.private(LLVMGetOperand(user, i))?;
                        LLVMSetOperand(user, i, new);
                    }
                }
                LLVMOpcode::LLVMAddrSpaceCast => self.cast(user, private(self, 0))?,
                LLVMOpcode::LLVMCall => self.call(Inst(user))?,
                LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => {
                    return Err(Refusal::Atomic("an atomic instruction".into()));
                }
                opcode => return Err(Refusal::Escapes(format!("an instruction ({opcode:?})"))),
            }
            Ok(())
        }
    }

    /// Rebuilds a cast to the generic address space, whose users stay as they are; they must not include atomics.
    unsafe fn cast(&mut self, old: LLVMValueRef, base: Option<LLVMValueRef>) -> PassResult<()> {
        // SAFETY: see the impl.
        unsafe {
            let Some(base) = base.filter(|_| space(old) == Some(GENERIC)) else {
                return Err(Refusal::Escapes("another address space".into()));
            };
            let mut generic = vec![old];
            let mut next = 0;
            while let Some(pointer) = generic.get(next).copied() {
                next += 1;
                for user in instruction_users(pointer) {
                    let callee = Inst(user).callee().unwrap_or_default();
                    if let Some(name) = base_name(&callee).filter(|name| builtins::operation(name).is_some()) {
                        return Err(Refusal::Atomic(name.to_owned()));
                    }
                    if space(user) == Some(GENERIC) && !generic.contains(&user) {
                        generic.push(user);
                    }
                }
            }
            self.position_before(old);
            let new = LLVMBuildAddrSpaceCast(self.builder, base, LLVMTypeOf(old), c"".as_ptr());
            LLVMReplaceAllUsesWith(old, new);
            LLVMInstructionEraseFromParent(old);
            Ok(())
        }
    }
}

/// The users that are instructions.
unsafe fn instruction_users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: the caller's value is alive.
    unsafe { ir::users(value).into_iter().filter(|user| !LLVMIsAInstruction(*user).is_null()).collect() }
}

/// The unmangled name of a builtin.
fn base_name(callee: &str) -> Option<&str> {
    builtins::demangle(callee).map(|(name, _)| name)
}
