//! Computes a flow-insensitive points-to analysis over the kernel and its helpers in canonical form.

use std::collections::{BTreeSet, HashMap};

use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use crate::kernel::implicit;
use crate::kernel::ir::{self, Function, Inst};

/// An object in memory that a pointer can be derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// A private variable: its `alloca`.
    Private(LLVMValueRef),
    /// A global variable of the module (`__local`, `__constant`).
    Variable(LLVMValueRef),
    /// The memory that a kernel argument points to, by the argument's position.
    Argument(u32),
    /// Any memory.
    Unknown,
}

/// A set of objects that a pointer may point into.
pub type Roots = BTreeSet<Root>;

/// The points-to sets of all pointers.
#[derive(Debug, Default)]
pub struct Pointers {
    roots: HashMap<LLVMValueRef, Roots>,
    /// The roots of the pointers stored in each private variable.
    stored: HashMap<LLVMValueRef, Roots>,
    /// Kernel arguments whose memory holds only pointers into that same memory.
    closed: Vec<u32>,
    /// Kernel arguments that are passed by value: each work-item has its own copy.
    by_value: Vec<u32>,
}

impl Pointers {
    /// Analyses `functions`, the first of which is the kernel.
    pub fn find(functions: &[Function]) -> Pointers {
        Pointers::read(functions, &[], true)
    }

    /// Like [`find`](Self::find), but assumes that arguments do not share memory, which implicit ones may. Pointers
    /// stored in the memory of the arguments `closed` point into that same memory.
    pub fn find_without_sharing(functions: &[Function], closed: &[u32]) -> Pointers {
        Pointers::read(functions, closed, false)
    }

    fn read(functions: &[Function], closed: &[u32], may_share: bool) -> Pointers {
        let mut pointers = Pointers { closed: closed.to_vec(), ..Pointers::default() };
        if let Some(kernel) = functions.first() {
            for (position, param) in (0..).zip(params(*kernel)) {
                let mut roots = Roots::from([Root::Argument(position)]);
                if may_share && implicit::may_share(*kernel, position) {
                    roots.insert(Root::Unknown);
                }
                pointers.add(param, roots);
                if ir::is_by_value(*kernel, position) {
                    pointers.by_value.push(position);
                }
            }
        }
        let instructions: Vec<Inst> =
            functions.iter().flat_map(|f| f.blocks()).flat_map(ir::Block::instructions).collect();
        // Iterates to the fixpoint.
        while instructions.iter().filter(|inst| pointers.visit(**inst)).count() > 0 {}
        pointers
    }

    /// Returns whether only the work-item itself can access `root`.
    pub(crate) fn is_private(&self, root: &Root) -> bool {
        match root {
            Root::Private(_) => true,
            Root::Argument(position) => self.by_value.contains(position),
            Root::Variable(_) | Root::Unknown => false,
        }
    }

    /// The objects that `pointer` may point into.
    pub(crate) fn roots(&self, pointer: LLVMValueRef) -> Roots {
        // SAFETY: `pointer` is a value of a living module; a constant expression has at least one operand.
        unsafe {
            if !LLVMIsAGlobalVariable(pointer).is_null() {
                return [Root::Variable(pointer)].into();
            }
            if !LLVMIsAConstantExpr(pointer).is_null() {
                return self.roots(LLVMGetOperand(pointer, 0));
            }
            if !LLVMIsAConstant(pointer).is_null() {
                return Roots::new();
            }
        }
        self.roots.get(&pointer).cloned().unwrap_or_default()
    }

    fn add(&mut self, pointer: LLVMValueRef, roots: Roots) -> bool {
        let entry = self.roots.entry(pointer).or_default();
        let before = entry.len();
        entry.extend(roots);
        entry.len() > before
    }

    /// Adds `roots` to the pointers that `variables` may hold; returns whether any was new.
    fn store(&mut self, variables: &Roots, roots: &Roots) -> bool {
        let mut changed = false;
        for variable in variables {
            if let Root::Private(alloca) = variable {
                let stored = self.stored.entry(*alloca).or_default();
                let before = stored.len();
                stored.extend(roots.iter().copied());
                changed |= stored.len() > before;
            }
        }
        changed
    }

    /// The roots of the pointers stored in `variables`.
    fn stored_in(&self, variables: &Roots) -> Roots {
        let mut all = Roots::new();
        for variable in variables {
            match variable {
                Root::Private(alloca) => all.extend(self.stored.get(alloca).into_iter().flatten().copied()),
                Root::Argument(position) if self.closed.contains(position) => {
                    all.insert(*variable);
                }
                _ => {
                    all.insert(Root::Unknown);
                }
            }
        }
        all
    }

    /// Applies the transfer function of an instruction; returns whether anything changed.
    fn visit(&mut self, inst: Inst) -> bool {
        let operands = inst.operands();
        match inst.opcode() {
            LLVMOpcode::LLVMAlloca => self.add(inst.0, [Root::Private(inst.0)].into()),
            LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMAddrSpaceCast
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMFreeze => self.add(inst.0, self.roots(operands[0])),
            LLVMOpcode::LLVMPHI => {
                let all = operands.iter().flat_map(|o| self.roots(*o)).collect();
                self.add(inst.0, all)
            }
            LLVMOpcode::LLVMSelect => {
                let all = operands[1..].iter().flat_map(|o| self.roots(*o)).collect();
                self.add(inst.0, all)
            }
            LLVMOpcode::LLVMLoad if is_pointer(inst.0) => self.add(inst.0, self.stored_in(&self.roots(operands[0]))),
            LLVMOpcode::LLVMStore if is_pointer(operands[0]) => {
                self.store(&self.roots(operands[1]), &self.roots(operands[0]))
            }
            LLVMOpcode::LLVMCall => self.call(inst, &operands),
            // Pointers from integers, aggregates or exchanges.
            _ => is_pointer(inst.0) && self.add(inst.0, [Root::Unknown].into()),
        }
    }

    fn call(&mut self, inst: Inst, operands: &[LLVMValueRef]) -> bool {
        let Some(callee) = direct_callee(inst) else {
            return is_pointer(inst.0) && self.add(inst.0, [Root::Unknown].into());
        };
        if !callee.has_body() {
            let mut changed = is_pointer(inst.0) && self.add(inst.0, [Root::Unknown].into());
            if callee.name().starts_with("llvm.memcpy") || callee.name().starts_with("llvm.memmove") {
                let stored = self.stored_in(
                    &self.roots(operands[1]).into_iter().filter(|r| matches!(r, Root::Private(_))).collect(),
                );
                changed |= self.store(&self.roots(operands[0]), &stored);
            }
            return changed;
        }
        let mut changed = false;
        for (param, argument) in params(callee).into_iter().zip(operands) {
            if is_pointer(param) {
                changed |= self.add(param, self.roots(*argument));
            }
        }
        if is_pointer(inst.0) {
            let returned: Roots = returns(callee).into_iter().flat_map(|v| self.roots(v)).collect();
            changed |= self.add(inst.0, returned);
        }
        changed
    }
}

/// The function that a call names directly.
pub fn direct_callee(inst: Inst) -> Option<Function> {
    // SAFETY: `inst` is a call of a living module.
    unsafe {
        let callee = LLVMGetCalledValue(inst.0);
        (!LLVMIsAFunction(callee).is_null()).then_some(Function(callee))
    }
}

/// The parameters of a function.
pub fn params(function: Function) -> Vec<LLVMValueRef> {
    // SAFETY: the function belongs to a living module, and indices are below its parameter count.
    unsafe { (0..LLVMCountParams(function.0)).map(|i| LLVMGetParam(function.0, i)).collect() }
}

/// The values that a function returns.
pub fn returns(function: Function) -> Vec<LLVMValueRef> {
    let ends = function.blocks().into_iter().map(ir::Block::terminator);
    ends.filter(|t| t.opcode() == LLVMOpcode::LLVMRet).flat_map(Inst::operands).collect()
}

/// Returns whether a value has a pointer type.
pub(crate) fn is_pointer(value: LLVMValueRef) -> bool {
    // SAFETY: `value` belongs to a living module, which owns its type's context.
    unsafe { LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMTypeKind::LLVMPointerTypeKind }
}
