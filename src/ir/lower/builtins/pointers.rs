//! What builtins take that access memory through pointers: pointers that point to the type that the builtin names.
//!
//! Pointers of LLVM's IR have no such type. The backend guesses it from other uses, so that a variable's address, which
//! is that of its first element too, points to an array or a struct: no driver has the builtin for that.

use crate::kernel::builtins::types::{self, Type as Mangled};
use crate::kernel::builtins::{self, Family, demangle, mangle};
use crate::llvm::{Builder, Function, Inst, Opcode, Type, Types, Value, View};
use inkwell::module::Module;

/// Gives all builtins of the module such pointers.
pub(super) fn rewrite(module: &Module<'_>) {
    let view = View::of(module);
    for builtin in view.functions().into_iter().filter(|f| !f.has_body() && f.is_used()) {
        let name = builtin.name();
        if builtins::family(&name) == Some(Family::Printf) {
            formats(view, builtin);
        }
        let Some((plain, parameters)) = demangle(&name) else { continue };
        let Some(parameters) = types::parse(parameters) else { continue };
        let pointees: Vec<(u32, Type<'_>)> = (0..)
            .zip(&parameters)
            .filter_map(|(position, ty)| Some((position, element_type(view.types(), ty.pointee()?)?)))
            .collect();
        // Asynchronous copies and SPIR-V's own instructions have theirs already.
        if pointees.is_empty() || plain.starts_with("__spirv_") || plain.starts_with("async_work_group_") {
            continue;
        }
        let calls = view.instructions().into_iter().filter(|call| call.called_function() == Some(builtin));
        let calls: Vec<Inst<'_>> = calls.collect();
        for call in calls {
            let builder = view.builder();
            builder.before(call);
            for (position, element) in &pointees {
                let Some(pointer) = call.args().get(*position as usize).copied() else { continue };
                if pointer.ty().is_pointer() && !points_to(pointer, *element) {
                    call.set_operand(*position, element_address(&builder, *element, pointer));
                }
            }
        }
        if plain == "vloada_half3" || plain == "vstorea_half3" || plain.starts_with("vstorea_half3_") {
            align_halves(view, builtin, plain, &parameters);
        }
    }
}

/// Gives calls of `printf` the address of a format's first character.
fn formats<'m>(view: View<'m>, printf: Function<'m>) {
    for call in view.instructions().into_iter().filter(|call| call.called_function() == Some(printf)) {
        let Some(format) = call.args().first().and_then(|format| format.as_global()) else { continue };
        let text = format.value_type();
        if text.is_array() {
            let builder = view.builder();
            builder.before(call);
            let index = builder.types().int(64).int(0);
            call.set_operand(0, address(&builder, text, format.value(), &[index, index]));
        }
    }
}

fn points_to(pointer: Value<'_>, element: Type<'_>) -> bool {
    pointer.as_opcode(Opcode::LLVMGetElementPtr).is_some_and(|gep| gep.value().gep_source() == Some(element))
}

/// Returns the arithmetic type that is mangled so.
pub(super) fn element_type<'m>(types: Types<'m>, mangled: &Mangled) -> Option<Type<'m>> {
    let (lanes, lane) = mangled.lanes()?;
    let lane = match lane {
        "c" | "a" | "h" => types.int(8),
        "s" | "t" => types.int(16),
        "i" | "j" => types.int(32),
        "l" | "m" => types.int(64),
        "Dh" => types.half(),
        "f" => types.float(),
        "d" => types.double(),
        _ => return None,
    };
    Some(if lanes == 1 { lane } else { lane.vector(lanes) })
}

/// Returns the address of element 0 at `pointer` as an instruction.
pub(super) fn element_address<'m>(builder: &Builder<'m>, element: Type<'m>, pointer: Value<'m>) -> Value<'m> {
    address(builder, element, pointer, &[builder.types().int(64).int(0)])
}

/// Returns an address as an instruction: it is built on an instruction and moved to `pointer`, because the builder
/// would fold it on a constant.
fn address<'m>(builder: &Builder<'m>, ty: Type<'m>, pointer: Value<'m>, indices: &[Value<'m>]) -> Value<'m> {
    let stand_in = builder.freeze(pointer, "");
    let address = builder.in_bounds_gep(ty, stand_in, indices, "element");
    if let (Some(step), Some(stand_in)) = (address.as_instruction(), stand_in.as_instruction())
        && step != stand_in
    {
        step.set_operand(0, pointer);
        stand_in.erase();
    }
    address
}

/// Turns `vloada_half3(i, p)` into `vload_half3(0, p + 4 * i)`, and the stores likewise. The backend takes the loads
/// for those of halves without gaps, and some devices do, too.
fn align_halves<'m>(view: View<'m>, builtin: Function<'m>, name: &str, parameters: &[Mangled]) {
    let unaligned = name.replacen("a_half3", "_half3", 1);
    let same = view.function_or_declared(&mangle(&unaligned, &types::print(parameters)), builtin.value_type());
    same.set_call_conv(builtin.call_conv());
    let calls = view.instructions().into_iter().filter(|call| call.called_function() == Some(builtin));
    let calls: Vec<Inst<'m>> = calls.collect();
    for call in calls {
        let mut args = call.args();
        let Some(first) = args.len().checked_sub(2) else { continue };
        let (offset, pointer) = (args[first], args[first + 1]);
        let builder = view.builder();
        builder.before(call);
        let index = builder.mul(offset, offset.ty().int(4), "");
        args[first] = offset.ty().null();
        args[first + 1] = builder.in_bounds_gep(builder.types().half(), pointer, &[index], "");
        let new = builder.call(same, &args, "");
        new.set_call_conv(call.call_conv().unwrap_or_default());
        drop(builder);
        match call.ty().is_void() {
            true => call.erase(),
            false => call.replace_and_erase(new.value()),
        }
    }
}
