//! Builds what a work-item computes once, at its kernel's entry; shared by the weavers of guards and of hooks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;

use crate::llvm::{Builder, Inst, Location, Value};

/// The part of a kernel's entry that a weaver has added: variables of the work-item, and after them values that
/// dominate the rest of the kernel. `K` is what values are known by.
pub struct Entry<'m, K> {
    /// The first variable, before which others are put.
    first: Inst<'m>,
    /// The last instruction, before which values are built.
    last: Inst<'m>,
    /// The debug location of what is built here; `None`: that of the last instruction.
    location: Option<Location<'m>>,
    values: RefCell<HashMap<K, Value<'m>>>,
}

impl<'m, K: Copy + Eq + Hash> Entry<'m, K> {
    /// The entry between a variable and an instruction after it that is never removed.
    pub fn new(first: Inst<'m>, last: Inst<'m>, location: Option<Location<'m>>) -> Entry<'m, K> {
        Entry { first, last, location, values: RefCell::default() }
    }

    /// Positions a builder here, so that what is built next dominates the rest of the kernel.
    pub fn go_to(&self, builder: &Builder<'m>) {
        builder.before(self.last);
        if self.location.is_some() {
            builder.set_location(self.location);
        }
    }

    /// Adds a variable of the work-item, initialised here, where the builder then stands.
    pub fn variable(&self, builder: &Builder<'m>, initial: Value<'m>) -> Inst<'m> {
        builder.before(self.first);
        let variable = builder.alloca(initial.ty(), "");
        self.go_to(builder);
        builder.store(initial, variable);
        variable
    }

    /// Returns the value of this key, if it was built.
    pub fn known(&self, key: K) -> Option<Value<'m>> {
        self.values.borrow().get(&key).copied()
    }

    /// Returns the value of this key, which `make` builds here on first use, where the builder then stands.
    pub fn value<E>(
        &self,
        builder: &Builder<'m>,
        key: K,
        make: impl FnOnce() -> Result<Value<'m>, E>,
    ) -> Result<Value<'m>, E> {
        if let Some(value) = self.known(key) {
            return Ok(value);
        }
        self.go_to(builder);
        let value = make()?;
        self.values.borrow_mut().insert(key, value);
        Ok(value)
    }
}
