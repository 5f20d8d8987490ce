//! Makes a `__local` variable private: each work-item gets a copy of its own, initially zero.
//!
//! The address space is part of a pointer's type, so every pointer that is computed from the variable is rebuilt, and
//! so is every use that depends on the address space. Runs after everything is inlined and private variables are
//! promoted. After a refusal the module is unusable.

use std::collections::{HashMap, HashSet};
use std::fmt;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use super::edit::LocalVariable;
use crate::kernel::builtins;
use crate::kernel::canonical;
use crate::llvm::{AddressSpace, Block, Builder, Function, Global, Inst, Opcode, Type, Value, View};

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
    let view = View::of(module);
    let kernel = view.function(entry).filter(|f| f.has_body()).ok_or_else(missing)?;
    let root = match variable {
        LocalVariable::Global(name) => view.global(name).map(Global::value),
        LocalVariable::Argument(at) => kernel.param(*at),
    };
    let root = root.filter(|root| space(*root) == Some(AddressSpace::Local)).ok_or_else(missing)?;
    let mut pass = Pass { view, builder: view.builder(), kernel, private_pointers: HashMap::new(), phis: Vec::new() };
    if let Err(refusal) = pass.run(root, bytes) {
        return Ok(Err(refusal));
    }
    canonical::verify(module, "making a local variable private")?;
    Ok(Ok(()))
}

/// The state of privatising one variable.
pub(super) struct Pass<'m> {
    pub(super) view: View<'m>,
    pub(super) builder: Builder<'m>,
    kernel: Function<'m>,
    /// Private pointers by the local pointers that they replace.
    pub(super) private_pointers: HashMap<Value<'m>, Value<'m>>,
    /// Local phis and their private counterparts, which have no incoming values yet.
    phis: Vec<(Inst<'m>, Inst<'m>)>,
}

/// The result of a step of the pass.
pub(super) type PassResult<T> = std::result::Result<T, Refusal>;

/// The address space of a pointer.
fn space(value: Value<'_>) -> Option<AddressSpace> {
    value.ty().space().filter(|_| value.ty().is_pointer())
}

impl<'m> Pass<'m> {
    fn run(&mut self, root: Value<'m>, bytes: u64) -> PassResult<()> {
        let global = root.as_global();
        let frozen = if global.is_some() { self.materialise_constants(root)? } else { Vec::new() };
        let derived = derived(root, frozen);
        let ty = match global {
            Some(global) => global.value_type(),
            None => self.array_for(root, &derived, bytes),
        };
        let private = self.variable(ty);
        self.private_pointers.insert(root, private);
        for pointer in &derived {
            self.private(pointer.value())?;
        }
        self.complete_phis()?;
        for pointer in std::iter::once(root).chain(derived.iter().map(|pointer| pointer.value())) {
            for user in pointer.user_instructions() {
                if !derived.contains(&user) {
                    self.redirect(user)?;
                }
            }
        }
        // The remaining local pointers are only used by each other.
        for old in &derived {
            old.replace_uses(old.ty().poison());
        }
        for old in derived {
            old.erase();
        }
        if let Some(global) = global.filter(|global| !global.is_used()) {
            // SAFETY: unused; the pass ends here.
            unsafe { global.delete() };
        }
        Ok(())
    }

    /// Replaces constant expressions of the variable in operands by instructions. Local pointers stay constants wrapped
    /// in a `freeze`; these are returned.
    fn materialise_constants(&mut self, root: Value<'m>) -> PassResult<Vec<Inst<'m>>> {
        let mut work = vec![root];
        let mut constants = HashSet::new();
        while let Some(value) = work.pop() {
            for user in value.users() {
                if let Some(inst) = user.as_instruction() {
                    if inst.function() != self.kernel {
                        return Err(Refusal::Escapes("a function that is not inlined".into()));
                    }
                } else if !user.is_constant_expression() {
                    return Err(Refusal::Escapes("a constant".into()));
                } else if constants.insert(user) {
                    work.push(user);
                }
            }
        }
        let mut frozen = Vec::new();
        // Instructions are listed before any is inserted.
        for inst in self.kernel.instructions() {
            // For phis: several edges may come from one block, and their values must be the same.
            let mut built: HashMap<(Block<'m>, Value<'m>), Value<'m>> = HashMap::new();
            let sources = inst.incoming();
            for (i, operand) in inst.operands().into_iter().enumerate() {
                if !constants.contains(&operand) {
                    continue;
                }
                let (block, before) = match sources.get(i) {
                    Some((_, from)) => (*from, from.terminator()),
                    None => (inst.block(), inst),
                };
                let value = match built.get(&(block, operand)) {
                    Some(value) => *value,
                    None => self.materialise(operand, before, &mut frozen)?,
                };
                built.insert((block, operand), value);
                inst.set_operand(i as u32, value);
            }
        }
        Ok(frozen)
    }

    fn materialise(
        &mut self,
        constant: Value<'m>,
        before: Inst<'m>,
        frozen: &mut Vec<Inst<'m>>,
    ) -> PassResult<Value<'m>> {
        if space(constant) == Some(AddressSpace::Local) {
            self.builder.before(before);
            let freeze = self.builder.freeze(constant, "");
            frozen.extend(freeze.as_instruction());
            return Ok(freeze);
        }
        let other = || Refusal::Escapes("a constant expression".into());
        let base = self.materialise(constant.operand(0).ok_or_else(other)?, before, frozen)?;
        self.builder.before(before);
        match constant.opcode() {
            Some(Opcode::LLVMGetElementPtr) => self.gep(constant, base).ok_or_else(other),
            Some(opcode @ (Opcode::LLVMAddrSpaceCast | Opcode::LLVMPtrToInt)) => {
                Ok(self.builder.cast(opcode, base, constant.ty(), ""))
            }
            _ => Err(other()),
        }
    }

    /// Type of the memory of an argument: an array of the type that is accessed in it.
    fn array_for(&self, root: Value<'m>, derived: &[Inst<'m>], bytes: u64) -> Type<'m> {
        let layout = self.view.layout();
        let pointers = std::iter::once(root).chain(derived.iter().map(|pointer| pointer.value()));
        let element = pointers.flat_map(Value::user_instructions).find_map(|user| {
            let ty = match user.opcode() {
                Opcode::LLVMGetElementPtr => user.value().gep_source()?,
                Opcode::LLVMLoad => user.ty(),
                Opcode::LLVMStore => user.operand(0).ty(),
                _ => return None,
            };
            ty.is_sized().then_some(ty)
        });
        let element = element.unwrap_or_else(|| self.view.int_type(8));
        let size = layout.abi_size(element).max(1);
        element.array(bytes.div_ceil(size).max(1))
    }

    /// Creates the private variable, initially zero: reads of values that other items wrote then give the same
    /// in every run.
    fn variable(&self, ty: Type<'m>) -> Value<'m> {
        self.builder.before(self.kernel.entry().first_insertion_point());
        self.builder.set_location(None);
        let variable = self.builder.alloca(ty, "private");
        // 16 bytes, for accesses as vectors.
        variable.set_alignment(16);
        self.builder.after_variables(self.kernel);
        let store = self.builder.store(ty.null(), variable);
        store.set_alignment(16);
        variable.value()
    }

    /// Builds the same address computation on another base.
    fn gep(&self, old: Value<'m>, base: Value<'m>) -> Option<Value<'m>> {
        let new = self.builder.gep(old.gep_source()?, base, old.operands().get(1..)?, "");
        if let Some(new) = new.as_instruction() {
            new.set_in_bounds(old.is_in_bounds());
        }
        Some(new)
    }

    /// Returns the private pointer for a local one. Pointers that depend on each other do so through a phi, which is
    /// entered first.
    fn private(&mut self, old: Value<'m>) -> PassResult<Value<'m>> {
        if let Some(new) = self.private_pointers.get(&old) {
            return Ok(*new);
        }
        let ty = self.view.pointer_type(AddressSpace::Private);
        if old.is_constant_expression() {
            // In front of the instruction at which the builder is positioned.
            let other = || Refusal::Escapes("a constant expression".into());
            let base = self.private(old.operand(0).ok_or_else(other)?)?;
            return self.gep(old, base).ok_or_else(other);
        }
        if old.is_null() {
            return Ok(ty.null());
        }
        if old.is_undef() {
            return Ok(ty.poison());
        }
        let Some(inst) = old.as_instruction() else { return Err(Refusal::Mixed) };
        let new = match inst.opcode() {
            Opcode::LLVMPHI => {
                self.builder.before_records(inst);
                let new = self.builder.phi(ty, &[], "");
                self.phis.push((inst, new));
                new.value()
            }
            Opcode::LLVMGetElementPtr => {
                let base = self.private(inst.operand(0))?;
                self.builder.before(inst);
                self.gep(old, base).ok_or(Refusal::Mixed)?
            }
            Opcode::LLVMSelect => {
                let (yes, no) = (self.private(inst.operand(1))?, self.private(inst.operand(2))?);
                self.builder.before(inst);
                self.builder.select(inst.operand(0), yes, no, "")
            }
            Opcode::LLVMFreeze => {
                self.builder.before(inst);
                self.private(inst.operand(0))?
            }
            _ => return Err(Refusal::Mixed),
        };
        self.private_pointers.insert(old, new);
        Ok(new)
    }

    fn complete_phis(&mut self) -> PassResult<()> {
        while let Some((old, new)) = self.phis.pop() {
            for (value, block) in old.incoming() {
                self.builder.before(block.terminator());
                let value = self.private(value)?;
                new.add_incoming(&[(value, block)]);
            }
        }
        Ok(())
    }

    /// Makes a user that is not itself a local pointer use the private pointer.
    fn redirect(&mut self, user: Inst<'m>) -> PassResult<()> {
        let private = |pass: &Pass<'m>, i: u32| pass.private_pointers.get(&user.operand(i)).copied();
        match user.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMPtrToInt => {
                if let Some(new) = private(self, 0) {
                    user.set_pointer(new);
                }
            }
            Opcode::LLVMStore => {
                if private(self, 0).is_some() {
                    return Err(Refusal::Escapes("memory".into()));
                }
                if let Some(new) = private(self, 1) {
                    user.set_pointer(new);
                }
            }
            Opcode::LLVMICmp => {
                // If both are pointers to the variable, both are already replaced when the users of the second one
                // are visited.
                if space(user.operand(0)) == Some(AddressSpace::Local) {
                    let (x, y) = (self.private(user.operand(0))?, self.private(user.operand(1))?);
                    user.set_compared(x, y);
                }
            }
            Opcode::LLVMAddrSpaceCast => self.cast(user, private(self, 0))?,
            Opcode::LLVMCall => self.call(user)?,
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                return Err(Refusal::Atomic("an atomic instruction".into()));
            }
            opcode => return Err(Refusal::Escapes(format!("an instruction ({opcode:?})"))),
        }
        Ok(())
    }

    /// Rebuilds a cast to the generic address space, whose users stay as they are; they must not include atomics.
    fn cast(&mut self, old: Inst<'m>, base: Option<Value<'m>>) -> PassResult<()> {
        let Some(base) = base.filter(|_| space(old.value()) == Some(AddressSpace::Generic)) else {
            return Err(Refusal::Escapes("another address space".into()));
        };
        let mut generic = vec![old];
        let mut next = 0;
        while let Some(pointer) = generic.get(next).copied() {
            next += 1;
            for user in pointer.value().user_instructions() {
                let callee = user.callee().unwrap_or_default();
                if let Some(name) = base_name(&callee).filter(|name| builtins::operation(name).is_some()) {
                    return Err(Refusal::Atomic(name.to_owned()));
                }
                if space(user.value()) == Some(AddressSpace::Generic) && !generic.contains(&user) {
                    generic.push(user);
                }
            }
        }
        self.builder.before(old);
        let new = self.builder.address_space_cast(base, old.ty(), "");
        self.replace_erasing(old, Some(new));
        Ok(())
    }

    /// Erases a user of local pointers that is none itself; `new` stands for its result.
    pub(super) fn replace_erasing(&self, user: Inst<'m>, new: Option<Value<'m>>) {
        if let Some(new) = new {
            user.replace_uses(new);
        }
        self.builder.after(user);
        user.erase();
    }
}

/// Returns all other local pointers that are computed from the variable.
fn derived<'m>(root: Value<'m>, frozen: Vec<Inst<'m>>) -> Vec<Inst<'m>> {
    let mut all = frozen;
    let collect = |pointer: Value<'m>, all: &mut Vec<Inst<'m>>| {
        for user in pointer.user_instructions() {
            let is_pointer = space(user.value()) == Some(AddressSpace::Local) && !user.is(Opcode::LLVMCall);
            if is_pointer && !user.is(Opcode::LLVMLoad) && !all.contains(&user) {
                all.push(user);
            }
        }
    };
    collect(root, &mut all);
    let mut next = 0;
    while let Some(pointer) = all.get(next).copied() {
        next += 1;
        collect(pointer.value(), &mut all);
    }
    all
}

/// The unmangled name of a builtin.
fn base_name(callee: &str) -> Option<&str> {
    builtins::demangle(callee).map(|(name, _)| name)
}
