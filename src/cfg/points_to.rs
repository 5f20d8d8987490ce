//! Computes a flow-insensitive points-to analysis over the kernel and its helpers in canonical form.

use std::collections::{BTreeSet, HashMap};

use crate::kernel::implicit;
use crate::llvm::{Function, Inst, Opcode, Value};

/// An object in memory that a pointer can be derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root<'m> {
    /// A private variable: its `alloca`.
    Private(Value<'m>),
    /// A global variable of the module (`__local`, `__constant`).
    Variable(Value<'m>),
    /// The memory that a kernel argument points to, by the argument's position.
    Argument(u32),
    /// Any memory.
    Unknown,
}

/// A set of objects that a pointer may point into.
pub type Roots<'m> = BTreeSet<Root<'m>>;

/// The points-to sets of all pointers.
#[derive(Debug, Default)]
pub struct PointsTo<'m> {
    roots: HashMap<Value<'m>, Roots<'m>>,
    /// The roots of the pointers stored in each private variable.
    stored: HashMap<Value<'m>, Roots<'m>>,
    /// Kernel arguments whose memory holds only pointers into that same memory.
    closed: Vec<u32>,
    /// Kernel arguments that are passed by value: each work-item has its own copy.
    by_value: Vec<u32>,
}

impl<'m> PointsTo<'m> {
    /// Analyses `functions`, the first of which is the kernel.
    pub fn find(functions: &[Function<'m>]) -> PointsTo<'m> {
        PointsTo::read(functions, &[], true)
    }

    /// Like [`find`](Self::find), but assumes that arguments do not share memory, which implicit ones may. Pointers
    /// stored in the memory of the arguments `closed` point into that same memory.
    pub fn find_without_sharing(functions: &[Function<'m>], closed: &[u32]) -> PointsTo<'m> {
        PointsTo::read(functions, closed, false)
    }

    fn read(functions: &[Function<'m>], closed: &[u32], may_share: bool) -> PointsTo<'m> {
        let mut pointers = PointsTo { closed: closed.to_vec(), ..PointsTo::default() };
        if let Some(kernel) = functions.first() {
            for (position, param) in (0..).zip(kernel.params()) {
                let mut roots = Roots::from([Root::Argument(position)]);
                if may_share && implicit::may_share(*kernel, position) {
                    roots.insert(Root::Unknown);
                }
                pointers.add(param, roots);
                if kernel.is_by_value(position) {
                    pointers.by_value.push(position);
                }
            }
        }
        let instructions: Vec<Inst<'_>> = functions.iter().flat_map(|f| f.instructions()).collect();
        // Iterates to the fixpoint.
        while instructions.iter().filter(|inst| pointers.visit(**inst)).count() > 0 {}
        pointers
    }

    /// Returns whether only the work-item itself can access `root`.
    pub(crate) fn is_private(&self, root: &Root<'m>) -> bool {
        match root {
            Root::Private(_) => true,
            Root::Argument(position) => self.by_value.contains(position),
            Root::Variable(_) | Root::Unknown => false,
        }
    }

    /// The objects that `pointer` may point into.
    pub(crate) fn roots(&self, pointer: Value<'m>) -> Roots<'m> {
        if pointer.as_global().is_some() {
            return [Root::Variable(pointer)].into();
        }
        if pointer.is_constant_expression() {
            return pointer.operand(0).map(|base| self.roots(base)).unwrap_or_default();
        }
        if pointer.is_constant() {
            return Roots::new();
        }
        self.roots.get(&pointer).cloned().unwrap_or_default()
    }

    fn add(&mut self, pointer: Value<'m>, roots: Roots<'m>) -> bool {
        let entry = self.roots.entry(pointer).or_default();
        let before = entry.len();
        entry.extend(roots);
        entry.len() > before
    }

    /// Adds `roots` to the pointers that `variables` may hold; returns whether any was new.
    fn store(&mut self, variables: &Roots<'m>, roots: &Roots<'m>) -> bool {
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
    fn stored_in(&self, variables: &Roots<'m>) -> Roots<'m> {
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
    fn visit(&mut self, inst: Inst<'m>) -> bool {
        let operands = inst.operands();
        match inst.opcode() {
            Opcode::LLVMAlloca => self.add(inst.value(), [Root::Private(inst.value())].into()),
            Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMFreeze => {
                self.add(inst.value(), self.roots(operands[0]))
            }
            Opcode::LLVMPHI => {
                let all = operands.iter().flat_map(|o| self.roots(*o)).collect();
                self.add(inst.value(), all)
            }
            Opcode::LLVMSelect => {
                let all = operands[1..].iter().flat_map(|o| self.roots(*o)).collect();
                self.add(inst.value(), all)
            }
            Opcode::LLVMLoad if inst.ty().is_pointer() => {
                self.add(inst.value(), self.stored_in(&self.roots(operands[0])))
            }
            Opcode::LLVMStore if operands[0].ty().is_pointer() => {
                self.store(&self.roots(operands[1]), &self.roots(operands[0]))
            }
            Opcode::LLVMCall => self.call(inst, &operands),
            // Pointers from integers, aggregates or exchanges.
            _ => inst.ty().is_pointer() && self.add(inst.value(), [Root::Unknown].into()),
        }
    }

    fn call(&mut self, inst: Inst<'m>, operands: &[Value<'m>]) -> bool {
        let Some(callee) = inst.called_function() else {
            return inst.ty().is_pointer() && self.add(inst.value(), [Root::Unknown].into());
        };
        if !callee.has_body() {
            let mut changed = inst.ty().is_pointer() && self.add(inst.value(), [Root::Unknown].into());
            if callee.name().starts_with("llvm.memcpy") || callee.name().starts_with("llvm.memmove") {
                let stored = self.stored_in(
                    &self.roots(operands[1]).into_iter().filter(|r| matches!(r, Root::Private(_))).collect(),
                );
                changed |= self.store(&self.roots(operands[0]), &stored);
            }
            return changed;
        }
        let mut changed = false;
        for (param, argument) in callee.params().into_iter().zip(operands) {
            if param.ty().is_pointer() {
                changed |= self.add(param, self.roots(*argument));
            }
        }
        if inst.ty().is_pointer() {
            let returned: Roots<'_> = returns(callee).into_iter().flat_map(|v| self.roots(v)).collect();
            changed |= self.add(inst.value(), returned);
        }
        changed
    }
}

/// The values that a function returns.
pub fn returns(function: Function<'_>) -> Vec<Value<'_>> {
    let ends = function.blocks().into_iter().map(|block| block.terminator());
    ends.filter(|t| t.is(Opcode::LLVMRet)).flat_map(Inst::operands).collect()
}
