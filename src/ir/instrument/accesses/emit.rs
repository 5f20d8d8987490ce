//! Builds IR in the kernel; shared by all kinds of hooks.

use std::convert::Infallible;
use std::mem::offset_of;

use kassay_model::native::abi::{Extent, GroupContext, ItemContext, hook};

use super::proofs::{Proof, record};
use crate::instrument::entry::Entry;
use crate::llvm::{
    AddressSpace, AttributeIndex, Block, Builder, DataLayout, Function, Inst, IntPredicate, Node, Opcode, Type, Value,
    View,
};

/// LLVM's encoding of effects confined to memory that the module cannot access: reads and writes (`ModRef` of the
/// location `InaccessibleMem`, two bits each; ModRef.h).
const INACCESSIBLE_MEMORY: u64 = 3 << 2;

/// A builder for the kernel that is being woven.
pub struct Emitter<'m> {
    pub view: View<'m>,
    pub kernel: Function<'m>,
    pub builder: Builder<'m>,
    pub layout: DataLayout<'m>,
    pub races: bool,
    pub int: Type<'m>,
    pub long: Type<'m>,
    pub pointer: Type<'m>,
    /// The work-item's context: the kernel's last argument.
    pub item: Value<'m>,
    /// The variable that holds the remaining iterations.
    pub fuel: Inst<'m>,
    /// From `fuel` to its initial store, in front of the first instruction of the source. Nothing splits the block
    /// above it.
    entry: Entry<'m, EntryValue>,
    /// The group's context.
    group: Value<'m>,
}

/// A value that is computed once, at the kernel's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryValue {
    /// Base of the static local variables.
    LocalBase,
    Extents,
    /// Address of a static local variable, by object.
    Local(u32),
    /// Base of the placed variables.
    PlacedBase,
    /// The memory of a placed variable, by object.
    Placed(u32),
    /// Where skipped accesses go.
    Sink,
    /// Size of an object in bytes.
    Bytes(u32),
    /// Number of positions in an object at which an access of the given bytes fits.
    Places(u32, u64),
}

impl<'m> Emitter<'m> {
    /// Builds the prologue of `kernel`, whose last argument, `item`, is the item's context, and which has an entry
    /// block with a terminator.
    pub fn new(view: View<'m>, kernel: Function<'m>, item: Value<'m>, races: bool) -> Emitter<'m> {
        let (int, long) = (view.int_type(32), view.int_type(64));
        let builder = view.builder();
        let entry = kernel.entry();
        let first = entry.walk().find(|i| !i.is(Opcode::LLVMAlloca));
        builder.before_records(first.unwrap_or_else(|| entry.terminator()));
        builder.set_location(kernel.line_zero());
        let fuel = builder.alloca(long, "kassay.fuel");
        let entry_anchor = builder.store(long.int(0), fuel);
        let mut emitter = Emitter {
            view,
            kernel,
            builder,
            layout: view.layout(),
            races,
            int,
            long,
            pointer: view.pointer_type(AddressSpace::Private),
            item,
            fuel,
            entry: Entry::new(fuel, entry_anchor, kernel.line_zero()),
            group: item,
        };
        emitter.at_entry();
        let group = offset_of!(ItemContext, group) as u64;
        emitter.group = emitter.load_address(item, group, "kassay.group", size_of::<GroupContext>() as u64);
        let initial = emitter.byte_offset(item, offset_of!(ItemContext, fuel) as u64);
        entry_anchor.set_operand(0, emitter.load(long, initial));
        emitter
    }

    /// Positions the builder at the kernel's entry, so that what is built next dominates the rest of the kernel.
    pub fn at_entry(&self) {
        self.entry.go_to(&self.builder);
    }

    /// Positions the builder before an instruction, with its debug location.
    pub fn before(&self, inst: Inst<'m>) {
        self.builder.before_records(inst);
        self.set_location(inst);
    }

    /// Positions the builder at the end of a block, with the debug location of `like`.
    pub fn at_end(&self, block: Block<'m>, like: Inst<'m>) {
        self.builder.at_end(block);
        self.set_location(like);
    }

    fn set_location(&self, inst: Inst<'m>) {
        self.builder.set_location(inst.debug_location().or_else(|| self.kernel.line_zero()));
    }

    /// Returns the entry value of this key; built on first use.
    pub fn entry_value(&self, key: EntryValue, make: impl FnOnce() -> Value<'m>) -> Value<'m> {
        let Ok(value) = self.entry.value(&self.builder, key, || Ok::<_, Infallible>(make()));
        value
    }

    /// Adds a variable of the work-item, initialised at the entry.
    pub fn variable(&self, initial: Value<'m>) -> Inst<'m> {
        self.entry.variable(&self.builder, initial)
    }

    /// Adds an uninitialised variable of `bytes` bytes, aligned to 16.
    pub fn buffer(&self, bytes: u64) -> Inst<'m> {
        self.builder.before(self.fuel);
        let variable = self.builder.alloca(self.view.int_type(8).array(bytes), "");
        variable.set_alignment(16);
        variable
    }

    /// An `i32` constant.
    pub fn const_i32(&self, n: u32) -> Value<'m> {
        self.int.int(n.into())
    }

    /// An `i64` constant.
    pub fn const_i64(&self, n: u64) -> Value<'m> {
        self.long.int(n)
    }

    /// Returns `base` advanced by `offset` bytes, which lie within what it points to.
    pub fn byte_offset(&self, base: Value<'m>, offset: u64) -> Value<'m> {
        self.builder.in_bounds_gep(self.view.int_type(8), base, &[self.const_i64(offset)], "")
    }

    /// Notes in the work-item's context that it has come to a `return` statement.
    pub fn note_return(&self) {
        let place = self.byte_offset(self.item, offset_of!(ItemContext, returned) as u64);
        let store = self.builder.store(self.const_i64(1), place);
        record(self.view, store.value(), Proof::Own);
    }

    /// Loads a field of a context that does not change while the item runs.
    fn load_invariant(&self, ty: Type<'m>, base: Value<'m>, offset: u64, name: &str) -> Value<'m> {
        let load = self.builder.load(ty, self.byte_offset(base, offset), name);
        load.set_metadata(self.view.metadata_kind("invariant.load"), Some(Node::new(ty, &[])));
        load.value()
    }

    /// Loads the address of `bytes` bytes of the simulator's own, as [`Self::load_invariant`].
    fn load_address(&self, base: Value<'m>, offset: u64, name: &str, bytes: u64) -> Value<'m> {
        let address = self.load_invariant(self.pointer, base, offset, name);
        record(self.view, address, Proof::Memory(bytes));
        address
    }

    /// Base address of the group's static local variables.
    pub fn local_base(&self) -> Value<'m> {
        let offset = offset_of!(GroupContext, local_base) as u64;
        self.entry_value(EntryValue::LocalBase, || {
            // No more than the static variables; each is recorded as a part of it.
            self.load_address(self.group, offset, "kassay.local", 0)
        })
    }

    /// Address of a static local variable of `bytes` bytes, `offset` bytes after the first one.
    pub fn local(&self, object: u32, offset: u64, bytes: u64, ty: Type<'m>) -> Value<'m> {
        let base = self.local_base();
        self.entry_value(EntryValue::Local(object), || {
            let place = self.byte_offset(base, offset);
            let place = self.builder.pointer_cast(place, ty, "");
            record(self.view, place, Proof::Memory(bytes));
            place
        })
    }

    /// The memory of a placed variable.
    pub fn placed(&self, object: u32, offset: u64, bytes: u64) -> Value<'m> {
        let base = self.entry_value(EntryValue::PlacedBase, || {
            self.load_address(self.item, offset_of!(ItemContext, placed) as u64, "kassay.placed", 0)
        });
        self.entry_value(EntryValue::Placed(object), || {
            let place = self.byte_offset(base, offset);
            record(self.view, place, Proof::Memory(bytes));
            place
        })
    }

    /// Tests whether a checked address is that to which skipped accesses go.
    pub fn is_skipped(&self, checked: Value<'m>) -> Value<'m> {
        let position = self.builder.position();
        let offset = offset_of!(GroupContext, sink) as u64;
        let sink =
            self.entry_value(EntryValue::Sink, || self.load_invariant(self.long, self.group, offset, "kassay.sink"));
        if let Some(position) = position {
            self.builder.go_to(position);
        }
        self.compare(IntPredicate::LLVMIntEQ, self.address(checked), sink)
    }

    /// Size in bytes of an object whose memory the launch provides.
    pub fn extent_bytes(&self, object: u32) -> Value<'m> {
        let offset = offset_of!(GroupContext, extents) as u64;
        let extents = self.entry_value(EntryValue::Extents, || {
            // As many as there are objects.
            self.load_address(self.group, offset, "kassay.extents", u64::from(u32::MAX))
        });
        let at = u64::from(object) * size_of::<Extent>() as u64 + offset_of!(Extent, bytes) as u64;
        self.entry_value(EntryValue::Bytes(object), || self.load_invariant(self.long, extents, at, "kassay.bytes"))
    }

    /// Loads a variable of type `ty`.
    pub fn load(&self, ty: Type<'m>, variable: impl Into<Value<'m>>) -> Value<'m> {
        self.builder.load(ty, variable, "").value()
    }

    /// Compares two integers of the same type.
    pub fn compare(&self, how: IntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.builder.icmp(how, a, b, "")
    }

    /// Casts a pointer to address space 0.
    pub fn flat(&self, pointer: Value<'m>) -> Value<'m> {
        self.builder.pointer_cast(pointer, self.pointer, "")
    }

    /// Converts a pointer to an `i64`.
    pub fn address(&self, pointer: Value<'m>) -> Value<'m> {
        self.builder.ptr_to_int(pointer, self.long, "")
    }

    /// Calls a hook; `result` is its return type, `arguments` are those after the item.
    pub fn hook(&self, name: &str, result: Type<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let mut all = vec![self.item];
        all.extend(arguments);
        let types: Vec<Type<'m>> = all.iter().map(|a| a.ty()).collect();
        let ty = result.function(&types, false);
        let callee = self.declaration(name, ty);
        self.builder.call_as(ty, callee, &all, "").value()
    }

    /// The type of hooks without a result.
    pub fn void(&self) -> Type<'m> {
        self.view.void_type()
    }

    fn declaration(&self, name: &str, ty: Type<'m>) -> Function<'m> {
        if let Some(known) = self.view.function(name) {
            return known;
        }
        let new = self.view.add_function(name, ty);
        let attributes = new.attributes(AttributeIndex::Function);
        attributes.add_flag("nounwind");
        if [hook::CHECK, hook::DIVISION, hook::FUEL, hook::INNER].contains(&name) {
            attributes.add_flag("cold");
        }
        // None of these accesses the kernel's memory; the fuel hook does, because it lets other items run.
        if [hook::CHECK, hook::DIVISION, hook::COMPARISON, hook::INNER].contains(&name) {
            attributes.add_number("memory", INACCESSIBLE_MEMORY);
        }
        new
    }

    /// Splits the block of `at` so that what `build` emits is executed only if `test`, which is built at the end of the
    /// first part, is true. Returns the predecessors of `at`'s block: the first part and the conditional block.
    pub fn emit_if(&self, at: Inst<'m>, test: Value<'m>, build: impl FnOnce()) -> (Block<'m>, Block<'m>) {
        let head = Block::split_before(at, "");
        let tail = at.block();
        let side = tail.insert_before("");
        self.at_end(head, at);
        self.builder.cond_br(test, side, tail);
        self.at_end(side, at);
        build();
        self.builder.br(tail);
        (head, side)
    }
}
