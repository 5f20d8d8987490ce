//! Turns calls of `printf` into those of the function that the device has: `vprintf`, which takes the arguments in
//! memory.

use crate::error::{Error, Result};
use crate::kernel::builtins::{self, Family};
use crate::llvm::{AddressSpace, Builder, Inst, Opcode, Value, View};

/// The device's function: `int vprintf(const char *format, void *arguments)`.
pub const DEVICE_FUNCTION: &str = "vprintf";

/// Rewrites all calls of `printf` in a retargeted module.
///
/// # Errors
/// `Caller` if a vector is printed.
pub fn rewrite(view: View<'_>) -> Result<()> {
    let is_print = |call: &Inst<'_>| call.callee().is_some_and(|name| builtins::family(&name) == Some(Family::Printf));
    for call in view.instructions().into_iter().filter(is_print) {
        let pointer = view.pointer_type(AddressSpace::Private);
        let int = view.int_type(32);
        let device = view.function_or_declared(DEVICE_FUNCTION, int.function(&[pointer, pointer], false));
        let builder = view.builder();
        builder.before(call);
        let Some((format, given)) = call.args().split_first().map(|(format, given)| (*format, given.to_vec())) else {
            continue;
        };
        let arguments = given.into_iter().map(|value| promoted(&builder, value)).collect::<Option<Vec<_>>>();
        let arguments = arguments.ok_or_else(|| {
            Error::caller("`printf` of a vector is not supported in code for NVIDIA GPUs")
                .help("print its components, or run the kernel on another device")
        })?;
        let packed = pack(&builder, call, &arguments);
        let format = builder.in_space(format, AddressSpace::Private);
        let printed = builder.call(device, &[format, packed], "");
        drop(builder);
        // SAFETY: the list has each call once, the loop goes on with the next one, and the builder is gone.
        unsafe { call.replace_and_erase(printed.value()) };
    }
    Ok(())
}

/// Promotes an argument as C does those of functions with a variable number of them (C99, 6.5.2.2). `None` for vectors.
fn promoted<'m>(builder: &Builder<'m>, value: Value<'m>) -> Option<Value<'m>> {
    let types = builder.types();
    let ty = value.ty();
    if ty.is_vector() {
        return None;
    }
    Some(match ty.int_width() {
        Some(width) if width < 32 => builder.cast(Opcode::LLVMSExt, value, types.int(32), ""),
        _ if ty.is_floating_point() => builder.fp_cast(value, types.double(), ""),
        _ if ty.is_pointer() => builder.in_space(value, AddressSpace::Private),
        _ => value,
    })
}

/// Stores arguments behind each other, each at its natural alignment, and returns where.
fn pack<'m>(builder: &Builder<'m>, call: Inst<'m>, arguments: &[Value<'m>]) -> Value<'m> {
    let types = builder.types();
    let mut offsets = Vec::new();
    let mut bytes = 0_u64;
    for argument in arguments {
        let size = argument.ty().bits().unwrap_or(64).div_ceil(8);
        bytes = bytes.next_multiple_of(size);
        offsets.push(bytes);
        bytes += size;
    }
    if arguments.is_empty() {
        return types.pointer(AddressSpace::Private).null();
    }
    let here = builder.position();
    builder.behind_variables(call.function());
    let memory = builder.alloca(types.int(8).array(bytes), "printed");
    memory.set_alignment(8);
    if let Some(here) = here {
        builder.go_to(here);
    }
    for (argument, offset) in arguments.iter().zip(offsets) {
        let place = builder.byte_offset(memory, types.int(64).int(offset), "");
        builder.store(*argument, place);
    }
    memory.value()
}
