//! Builds IR in the kernel; shared by all guards.

use std::cell::RefCell;
use std::collections::HashMap;

use inkwell::module::Module;
use kassay_base::error::Result;

use crate::instrument::entry::Entry;
use crate::instrument::runtime;
use crate::llvm::{Builder, Function, Inst, IntPredicate, Type, TypeKind, Value, View};

/// A builder for the kernel that is being guarded, with the private words of a work-item.
pub struct Emitter<'m> {
    pub view: View<'m>,
    pub kernel: Function<'m>,
    pub builder: Builder<'m>,
    pub int: Type<'m>,
    pub long: Type<'m>,
    /// The parameters of the run, and its slot, in the probe buffer, which is the kernel's last argument.
    pub parameters: Value<'m>,
    pub slot: Value<'m>,
    /// Variables: remaining iterations, and the latest fault.
    pub fuel: Inst<'m>,
    pub fault: Inst<'m>,
    /// The prologue that the guards add, with values known by what they were made from.
    entry: Entry<'m, (Value<'m>, u64, u64, u64)>,
    /// Replacements of values that were read from the kernel before it changed and must no longer be used.
    replaced: RefCell<HashMap<Value<'m>, Value<'m>>>,
}

impl<'m> Emitter<'m> {
    /// Links the runtime and initialises the work-item's words at the kernel's entry. `parameters_of` and `slot_of`
    /// return the run's parameters and its slot in the probe buffer. The kernel has at least the probe as an argument.
    pub fn new(
        module: &'m Module<'_>,
        kernel: Function<'m>,
        [parameters_of, slot_of]: [Function<'m>; 2],
    ) -> Result<Emitter<'m>> {
        runtime::link_guard(module)?;
        let view = View::of(module);
        let begin = runtime::find(view, "__kassay_fuel")?;
        let (int, long) = (view.int_type(32), view.int_type(64));
        let probe = kernel.last_param().expect("a guarded kernel has the probe buffer as an argument");
        let builder = view.builder();
        builder.before(kernel.entry().walk().next().expect("the entry has a terminator"));
        let fuel = builder.alloca(int, "kassay.fuel");
        let fault = builder.alloca(int, "kassay.fault");
        builder.after_variables(kernel);
        let entry_anchor = builder.store(int.int(0), fault);
        builder.before(entry_anchor);
        let parameters = builder.call(parameters_of, &[probe], "").value();
        let slot = builder.call(slot_of, &[probe], "").value();
        let initial = builder.call(begin, &[parameters], "");
        builder.store(initial, fuel);
        Ok(Emitter {
            view,
            kernel,
            builder,
            int,
            long,
            parameters,
            slot,
            fuel,
            fault,
            entry: Entry::new(fuel, entry_anchor, None),
            replaced: RefCell::default(),
        })
    }

    /// Positions the builder at the kernel's entry, so that what is built next dominates the rest of the kernel.
    pub fn at_entry(&self) {
        self.entry.go_to(&self.builder);
    }

    /// Returns an `i32` constant.
    pub fn const_i32(&self, n: u32) -> Value<'m> {
        self.int.int(u64::from(n))
    }

    /// Returns an `i64` constant.
    pub fn const_i64(&self, n: u64) -> Value<'m> {
        self.long.int(n)
    }

    /// Returns a function of the linked runtime.
    pub fn runtime(&self, name: &str) -> Result<Function<'m>> {
        runtime::find(self.view, name)
    }

    /// Adds a variable of the work-item, initialised at the entry.
    pub fn variable(&self, initial: Value<'m>) -> Value<'m> {
        self.entry.variable(&self.builder, initial).value()
    }

    /// Replaces all uses of `old` by `new`, including values that were read from the
    /// kernel before ([`Emitter::current`]).
    pub fn replace(&self, old: Inst<'m>, new: impl Into<Value<'m>>) {
        let new = new.into();
        old.replace_uses(new);
        self.replaced.borrow_mut().insert(old.value(), new);
    }

    /// Returns the current replacement of a value that was read from the kernel before any guard was woven: a guarded
    /// access is executed in a block of its own, and later code uses the `phi` after it.
    pub fn current(&self, value: Value<'m>) -> Value<'m> {
        self.replaced.borrow().get(&value).copied().unwrap_or(value)
    }

    /// Loads a variable of type `ty`.
    pub fn load(&self, ty: Type<'m>, variable: impl Into<Value<'m>>) -> Value<'m> {
        self.builder.load(ty, variable, "").value()
    }

    /// Builds a call with the callee's calling convention.
    pub fn call(&self, callee: Function<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        self.builder.call(callee, arguments, "").value()
    }

    /// Returns the entry value of this key; built on first use, after which the builder stands where it stood.
    pub fn entry_value(
        &self,
        key: (Value<'m>, u64, u64, u64),
        make: impl FnOnce() -> Result<Value<'m>>,
    ) -> Result<Value<'m>> {
        if let Some(value) = self.entry.known(key) {
            return Ok(value);
        }
        let position = self.builder.position();
        let value = self.entry.value(&self.builder, key, make);
        position.into_iter().for_each(|position| self.builder.go_to(position));
        value
    }

    /// Widens a boolean for the runtime's functions.
    pub fn bool_to_int(&self, condition: Value<'m>) -> Value<'m> {
        self.builder.zext(condition, self.int, "")
    }

    /// Compares two integers of the same type.
    pub fn compare(&self, how: IntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.builder.icmp(how, a, b, "")
    }

    /// Returns the value of a type that stands for nothing: zero, or undefined where memory cannot hold the type
    /// (images, events).
    pub fn nothing(ty: Type<'m>) -> Value<'m> {
        match ty.kind() {
            TypeKind::LLVMTargetExtTypeKind => ty.undef(),
            _ => ty.null(),
        }
    }
}
