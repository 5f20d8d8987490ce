//! Turns calls of `printf` into those of the function that the device has: `vprintf`, which takes the arguments in
//! memory, knows no vectors, and takes a limited number of arguments.

use kassay_base::error::{Error, Result};
use kassay_model::printf_format::{Conversion, Piece, pieces};

use crate::kernel::builtins::{self, Family};
use crate::llvm::{AddressSpace, Builder, Inst, Opcode, Value, View};

/// The device's function: `int vprintf(const char *format, void *arguments)`.
pub const DEVICE_FUNCTION: &str = "vprintf";

/// The device leaves out what follows so many arguments (CUDA C++ Programming Guide, "Formatted Output").
const MOST_ARGUMENTS: usize = 32;

/// Rewrites all calls of `printf` in a retargeted module.
///
/// # Errors
/// `Caller` if a vector is printed with a format that is no constant, or an argument does not go with its conversion.
pub fn rewrite(view: View<'_>) -> Result<()> {
    let is_print = |call: &Inst<'_>| call.callee().is_some_and(|name| builtins::family(&name) == Some(Family::Printf));
    for call in view.instructions().into_iter().filter(is_print) {
        let Some((format, given)) = call.args().split_first().map(|(format, given)| (*format, given.to_vec())) else {
            continue;
        };
        let printer = Printer { view, builder: view.builder(), call };
        printer.builder.before(call);
        let printed = match constant_text(view, format) {
            Some(text) => printer.by_format(&text, &given)?,
            None => {
                let arguments = given.into_iter().map(|value| printer.promoted(value)).collect::<Option<Vec<_>>>();
                let arguments = arguments.ok_or_else(|| {
                    Error::caller("`printf` prints a vector with a format that is no string literal")
                        .help("write the format in the call, or print the components")
                })?;
                printer.print(format, &arguments)
            }
        };
        drop(printer);
        call.replace_and_erase(printed);
    }
    Ok(())
}

/// Returns the string constant that a pointer leads to, without the NUL.
fn constant_text(view: View<'_>, pointer: Value<'_>) -> Option<Vec<u8>> {
    let (mut base, mut from) = (pointer, 0_i64);
    loop {
        match base.opcode() {
            Some(Opcode::LLVMGetElementPtr) => from = from.checked_add(view.layout().constant_offset(base)?)?,
            Some(Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast) => {}
            _ => break,
        }
        base = base.operand(0)?;
    }
    let initial = base.as_global().filter(|variable| variable.is_constant())?.initializer()?;
    match initial.bytes() {
        Some(text) => {
            let text = text.get(usize::try_from(from).ok()?..)?;
            Some(text.iter().copied().take_while(|byte| *byte != 0).collect())
        }
        None => initial.is_null().then(Vec::new),
    }
}

/// Builds what stands for one call.
struct Printer<'m> {
    view: View<'m>,
    builder: Builder<'m>,
    call: Inst<'m>,
}

impl<'m> Printer<'m> {
    /// Prints each component of a vector by itself, and integers with the bytes that their conversion states. Returns
    /// what `printf` returns.
    fn by_format(&self, format: &[u8], given: &[Value<'m>]) -> Result<Value<'m>> {
        let mut calls: Vec<(Vec<u8>, Vec<Value<'m>>)> = vec![Default::default()];
        let mut given = given.iter();
        for piece in pieces(format) {
            let conversion = match piece {
                Piece::Conversion(conversion) if conversion.letter != b'%' => conversion,
                Piece::Text(text) if !text.starts_with(b"%") => {
                    calls.last_mut().into_iter().for_each(|(format, _)| format.extend(text));
                    continue;
                }
                _ => {
                    calls.last_mut().into_iter().for_each(|(format, _)| format.extend(b"%%"));
                    continue;
                }
            };
            let Some(argument) = given.next() else { continue };
            let components = argument.ty().lanes().map_or(1, |lanes| lanes.min(conversion.vector));
            for component in 0..components {
                let value = if argument.ty().is_vector() { self.builder.lane(*argument, component) } else { *argument };
                let (value, length) = self.converted(&conversion, value).ok_or_else(|| mismatch(&conversion))?;
                if calls.last().is_some_and(|(_, arguments)| arguments.len() == MOST_ARGUMENTS) {
                    calls.push(Default::default());
                }
                let Some((format, arguments)) = calls.last_mut() else { continue };
                format.extend(if component > 0 { &b",%"[..] } else { b"%" });
                format.extend(conversion.style);
                format.extend(length);
                // The device may not know `F`, which differs for infinity and NaN only.
                format.push(if conversion.letter == b'F' { b'f' } else { conversion.letter });
                arguments.push(value);
            }
        }
        let mut failed = self.builder.types().int(32).int(0);
        for (format, arguments) in calls {
            let done = self.print(self.text(&format), &arguments);
            failed = self.builder.or(failed, done, "");
        }
        Ok(failed)
    }

    /// Returns a component as its conversion wants it, and the length modifier to go with it. `None` if it does not go
    /// with the conversion.
    fn converted(&self, conversion: &Conversion<'_>, value: Value<'m>) -> Option<(Value<'m>, &'static [u8])> {
        let (builder, types, ty) = (&self.builder, self.builder.types(), value.ty());
        if let Some(is_signed) = conversion.integer_sign() {
            let bits = u32::try_from(ty.bits().filter(|_| !ty.is_pointer())?).ok()?;
            let value = builder.cast(Opcode::LLVMBitCast, value, types.int(bits), "");
            let counted = 8 * conversion.integer_bytes(bits.div_ceil(8));
            let value = builder.int_cast(value, types.int(counted), is_signed, "");
            let is_long = conversion.length == b"l" || counted > 32;
            let value = builder.int_cast(value, types.int(if is_long { 64 } else { 32 }), is_signed, "");
            return Some((value, if is_long { b"l" } else { b"" }));
        }
        if conversion.is_float() {
            let value = match ty.is_floating_point() {
                true => builder.fp_cast(value, types.double(), ""),
                false if ty.is_integer() => builder.cast(Opcode::LLVMSIToFP, value, types.double(), ""),
                false => return None,
            };
            return Some((value, b""));
        }
        let value = match conversion.letter {
            b'c' if ty.is_integer() => builder.int_cast(value, types.int(32), true, ""),
            b'p' if ty.is_integer() => builder.int_cast(value, types.int(64), false, ""),
            b's' | b'p' if ty.is_pointer() => builder.in_space(value, AddressSpace::Private),
            _ => return None,
        };
        Some((value, b""))
    }

    /// Promotes an argument as C does those of functions with a variable number of them (C99, 6.5.2.2). `None` for
    /// vectors.
    fn promoted(&self, value: Value<'m>) -> Option<Value<'m>> {
        let (builder, types, ty) = (&self.builder, self.builder.types(), value.ty());
        if ty.is_vector() {
            return None;
        }
        Some(match ty.int_width() {
            Some(width) if width < 32 => builder.int_cast(value, types.int(32), true, ""),
            _ if ty.is_floating_point() => builder.fp_cast(value, types.double(), ""),
            _ if ty.is_pointer() => builder.in_space(value, AddressSpace::Private),
            _ => value,
        })
    }

    /// Makes a string constant.
    fn text(&self, text: &[u8]) -> Value<'m> {
        let text = self.builder.types().text(text);
        let variable = self.view.add_global("kassay_format", text.ty(), AddressSpace::Global);
        variable.make_internal();
        variable.set_initializer(text);
        variable.value()
    }

    /// Calls the device's function. Returns 0, or -1 if it fails (OpenCL C 3.0, 6.15.14.1).
    fn print(&self, format: Value<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let (builder, pointer, int) =
            (&self.builder, self.view.pointer_type(AddressSpace::Private), self.view.int_type(32));
        let device = self.view.function_or_declared(DEVICE_FUNCTION, int.function(&[pointer, pointer], false));
        let packed = self.pack(arguments);
        let printed = builder.call(device, &[builder.in_space(format, AddressSpace::Private), packed], "");
        builder.binary(Opcode::LLVMAShr, printed, int.int(31), "")
    }

    /// Stores arguments one after the other, each at its natural alignment, and returns where.
    fn pack(&self, arguments: &[Value<'m>]) -> Value<'m> {
        let (builder, types) = (&self.builder, self.builder.types());
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
        builder.after_variables(self.call.function());
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
}

fn mismatch(conversion: &Conversion<'_>) -> Error {
    let letter = char::from(conversion.letter);
    Error::caller(format!("`printf` has an argument that does not go with its conversion `%{letter}`"))
        .help("OpenCL C 3.0, section 6.15.14, says which types each conversion takes")
}
