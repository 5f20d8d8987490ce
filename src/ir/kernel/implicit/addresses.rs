//! Variables of the program that begin with addresses of other variables. An address is not known before a launch, so
//! the kernel stores it when it begins: every work-item the same, where it will find it.

use std::collections::HashMap;

use kassay_model::native::abi::mark;

use crate::llvm::{DataLayout, Function, Global, Inst, Node, Opcode, Operand, TypeKind, Value, View};

/// The contents, by full name, that variables have when the program is loaded, with zeros in the place of addresses.
pub type Contents = HashMap<String, Vec<u8>>;

/// Makes the kernel store the addresses that `variables` begin with, which then begin with zeros; their contents are
/// returned. Variables to which functions store are left as they are: one work-item's address might replace what
/// another has stored.
pub fn store<'m>(view: View<'m>, kernel: Function<'m>, variables: &[Global<'m>]) -> Contents {
    let mut all = Contents::new();
    let layout = view.layout();
    for variable in variables {
        let Some(initializer) = variable.initializer().filter(|_| !is_stored_to(view, *variable)) else { continue };
        let size = usize::try_from(layout.abi_size(variable.value_type())).unwrap_or(0);
        let mut read = Initial { layout, bytes: vec![0; size], addresses: Vec::new() };
        if read.add(initializer, 0).is_none() || read.addresses.is_empty() {
            continue;
        }
        let Some(first) = kernel.entry().instructions().into_iter().find(|inst| !inst.is(Opcode::LLVMAlloca)) else {
            continue;
        };
        let builder = view.builder();
        builder.before(first);
        for (offset, address) in &read.addresses {
            let offset = view.int_type(64).int(*offset as u64);
            let to = builder.byte_offset(variable.value(), offset, "");
            let store = builder.store(*address, to);
            let text = Operand::Text("a variable's initial value".to_owned());
            store.set_metadata(view.metadata_kind(mark::BEGINS), Some(Node::new(view.int_type(64), &[text])));
        }
        variable.set_initializer(variable.value_type().null());
        all.insert(variable.name(), read.bytes);
    }
    all
}

/// Returns whether an instruction stores directly to a variable, or changes it by an atomic.
fn is_stored_to<'m>(view: View<'m>, variable: Global<'m>) -> bool {
    let leads_there = |mut pointer: Value<'m>| loop {
        match (pointer == variable.value(), pointer.operand(0)) {
            (true, _) => return true,
            (false, Some(base)) if is_computed(pointer) => pointer = base,
            _ => return false,
        }
    };
    let changed = |inst: Inst<'m>| match inst.opcode() {
        Opcode::LLVMStore => Some(inst.operand(1)),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => Some(inst.operand(0)),
        Opcode::LLVMCall if inst.callee().is_some_and(|name| name.starts_with("llvm.mem")) => Some(inst.operand(0)),
        _ => None,
    };
    view.instructions().into_iter().filter_map(changed).any(leads_there)
}

/// Returns whether a pointer is its first operand, moved or cast.
fn is_computed(pointer: Value<'_>) -> bool {
    matches!(pointer.opcode(), Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast))
}

/// An initial value as it lies in memory.
struct Initial<'m> {
    layout: DataLayout<'m>,
    bytes: Vec<u8>,
    addresses: Vec<(usize, Value<'m>)>,
}

impl<'m> Initial<'m> {
    /// Adds a constant at an offset; `None` if it is neither numbers nor addresses of variables.
    fn add(&mut self, value: Value<'m>, offset: usize) -> Option<()> {
        if value.is_null() || value.is_undef() {
            return Some(());
        }
        let ty = value.ty();
        let size = usize::try_from(self.layout.abi_size(ty)).ok()?;
        match ty.kind() {
            TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => {
                let (element, count) = ty.elements()?;
                let step = usize::try_from(self.layout.abi_size(element)).ok()?;
                (0..count as u32).try_for_each(|i| self.add(value.element(i)?, offset + i as usize * step))
            }
            TypeKind::LLVMStructTypeKind => (0..ty.fields().len() as u32).try_for_each(|i| {
                let field = usize::try_from(self.layout.field_offset(ty, i)).ok()?;
                self.add(value.element(i)?, offset + field)
            }),
            _ if ty.is_pointer() => {
                let mut base = value;
                while is_computed(base) {
                    base = base.operand(0)?;
                }
                base.as_global()?;
                self.addresses.push((offset, value));
                Some(())
            }
            _ if ty.is_integer() || ty.is_float() => {
                let number = value.bits()?.as_u64()?.to_le_bytes();
                self.bytes.get_mut(offset..offset + size)?.copy_from_slice(number.get(..size)?);
                Some(())
            }
            _ => None,
        }
    }
}
