//! Packs the arguments of `printf` into private memory, where the simulator reads them.

use kassay_model::native::abi::hook;
use kassay_model::native::table::PrintArg;

use super::emit::Emitter;
use super::sites::Sites;
use super::values;
use crate::kernel::builtins::{self, Family};
use crate::llvm::{DataLayout, Function, Inst, TypeKind, Value};

/// A call of `printf`.
pub struct Print<'m> {
    inst: Inst<'m>,
    site: u32,
    /// The positions of the operands after the format that are packed, with their offsets. The operands themselves may
    /// be replaced by what is woven elsewhere.
    packed: Vec<(u32, u32)>,
    /// Size of the packed values.
    bytes: u32,
}

/// Finds all calls of `printf` and adds their sites.
pub fn find<'m>(kernel: Function<'m>, sites: &mut Sites<'_, 'm>) -> Vec<Print<'m>> {
    let mut all = Vec::new();
    for inst in kernel.instructions() {
        if !inst.callee().is_some_and(|name| builtins::family(&name) == Some(Family::Printf)) {
            continue;
        }
        let given = inst.args();
        let Some(format) = given.first() else { continue };
        let format = literal(sites.objects.layout(), *format);
        let mut print = Print { inst, site: 0, packed: Vec::new(), bytes: 0 };
        let mut args = Vec::new();
        for (operand, value) in (0..).zip(given).skip(1) {
            args.extend(pack(operand, value, &mut print));
        }
        print.site = sites.print(inst, format, args);
        all.push(print);
    }
    all
}

/// Assigns a value an offset after the previous ones.
fn pack(operand: u32, value: Value<'_>, print: &mut Print<'_>) -> Option<PrintArg> {
    let (element, components) = (value.ty().scalar(), value.ty().lanes().unwrap_or(1));
    let kind = element.kind();
    let bytes = match kind {
        TypeKind::LLVMIntegerTypeKind => element.int_width()?.div_ceil(8).next_power_of_two(),
        TypeKind::LLVMHalfTypeKind => 2,
        TypeKind::LLVMFloatTypeKind => 4,
        TypeKind::LLVMDoubleTypeKind | TypeKind::LLVMPointerTypeKind => 8,
        _ => return None,
    };
    let offset = print.bytes.next_multiple_of(bytes);
    print.bytes = offset + bytes * components;
    print.packed.push((operand, offset));
    Some(match kind {
        TypeKind::LLVMIntegerTypeKind => PrintArg::Integer { bytes, components, offset },
        TypeKind::LLVMPointerTypeKind => PrintArg::Pointer { offset },
        _ => PrintArg::Float { bytes, components, offset },
    })
}

/// Returns the string constant that a pointer leads to, without the NUL.
fn literal<'m>(layout: DataLayout<'m>, pointer: Value<'m>) -> Option<Vec<u8>> {
    let (base, distance) = values::base_and_offset(layout, values::resolve(pointer));
    let from = usize::try_from(distance?).ok()?;
    let initial = base.as_global().filter(|variable| variable.is_constant())?.initializer()?;
    match initial.bytes() {
        Some(text) => Some(text.get(from..)?.iter().copied().take_while(|byte| *byte != 0).collect()),
        None => initial.is_null().then(Vec::new),
    }
}

/// Replaces the calls by their hook; their value becomes 0.
pub fn weave<'m>(e: &Emitter<'m>, prints: Vec<Print<'m>>) {
    for print in prints {
        let inst = print.inst;
        let format = inst.operand(0);
        let packed = match print.bytes {
            0 => e.pointer.null(),
            bytes => e.buffer(u64::from(bytes)).value(),
        };
        e.before(inst);
        for (operand, offset) in print.packed {
            store(e, inst.operand(operand), e.byte_offset(packed, u64::from(offset)));
        }
        e.hook(hook::PRINT, e.void(), &[e.const_i32(print.site), e.flat(format), packed]);
        if !inst.ty().is_void() {
            inst.replace_uses(inst.ty().null());
        }
        inst.erase();
    }
}

/// Stores the components of a value contiguously (vectors of three have no room for a fourth).
fn store<'m>(e: &Emitter<'m>, value: Value<'m>, place: Value<'m>) {
    let one = |value: Value<'m>, place: Value<'m>| {
        let value = match value.ty().int_width() {
            Some(width) => {
                let bytes = width.div_ceil(8).next_power_of_two();
                e.builder.zext(value, e.view.int_type(bytes * 8), "")
            }
            None if value.ty().is_pointer() => e.flat(value),
            None => value,
        };
        e.builder.store(value, place).set_alignment(1);
    };
    let Some(lanes) = value.ty().lanes() else { return one(value, place) };
    let bytes = e.layout.store_size(value.ty().scalar());
    for i in 0..lanes {
        let component = e.builder.lane(value, i);
        one(component, e.byte_offset(place, u64::from(i) * bytes));
    }
}
