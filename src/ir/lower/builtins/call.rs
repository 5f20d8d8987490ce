//! A call of a builtin that is lowered, and what is built in its place.

use crate::kernel::builtins::types::Type as Mangled;
use crate::kernel::builtins::{is_signed, mangle};
use crate::llvm::{AttributeIndex, Builder, Inst, SPIR_FUNC, Type, Types, Value, View};

/// Builds what a call becomes; `None` leaves it as it is.
pub(super) type Lowering = for<'m> fn(&Call<'_, 'm>) -> Option<Replacement<'m>>;

/// What a call becomes.
pub(super) enum Replacement<'m> {
    /// A value instead of the result.
    Value(Value<'m>),
    /// Instructions that were built, of a builtin without a result.
    Built,
}

/// A call of a builtin. The builder stands before it.
pub(super) struct Call<'a, 'm> {
    view: View<'m>,
    pub builder: &'a Builder<'m>,
    /// The builtin's name, without mangling.
    pub name: &'a str,
    /// The parameters as they are mangled; none where the name is not.
    pub parameters: &'a str,
    /// The same, one by one.
    pub types: &'a [Mangled],
    pub args: Vec<Value<'m>>,
    /// The type of the result.
    pub result: Type<'m>,
}

/// Replaces a call by what `lowering` builds, if it can.
pub(super) fn replace<'m>(
    view: View<'m>,
    inst: Inst<'m>,
    (name, parameters): (&str, &str),
    types: &[Mangled],
    lowering: Lowering,
) {
    let builder = view.builder();
    builder.before(inst);
    let call = Call { view, builder: &builder, name, parameters, types, args: inst.args(), result: inst.ty() };
    let Some(replacement) = lowering(&call) else { return };
    drop(builder);
    match replacement {
        Replacement::Value(value) if !inst.ty().is_void() => inst.replace_and_erase(value),
        Replacement::Value(_) | Replacement::Built => inst.erase(),
    }
}

impl<'m> Call<'_, 'm> {
    pub fn type_of(&self) -> Types<'m> {
        self.view.types()
    }

    /// Returns whether the lanes of a parameter are signed; `None` unless they are integers.
    pub fn is_signed(&self, parameter: usize) -> Option<bool> {
        integer_sign(self.types.get(parameter)?)
    }

    /// Returns whether what a parameter points to is signed; `None` unless it is an integer.
    pub fn points_to_signed(&self, parameter: usize) -> Option<bool> {
        integer_sign(self.types.get(parameter)?.pointee()?)
    }

    /// Calls SPIR-V's instruction of that name. `parameters` are the types in its mangled name.
    pub fn spirv(&self, name: &str, result: Type<'m>, args: &[Value<'m>], parameters: &str) -> Inst<'m> {
        spirv(self.view, self.builder, name, result, args, parameters)
    }

    /// Calls another builtin.
    pub fn declared(&self, name: &str, ty: Type<'m>, args: &[Value<'m>]) -> Inst<'m> {
        let builtin = self.view.function_or_declared(name, ty);
        builtin.set_call_conv(SPIR_FUNC);
        let call = self.builder.call(builtin, args, "");
        call.set_call_conv(SPIR_FUNC);
        call
    }

    /// Returns a constant of SPIR-V's 32-bit words.
    pub fn word(&self, n: u32) -> Value<'m> {
        self.type_of().int(32).int(n.into())
    }
}

fn integer_sign(ty: &Mangled) -> Option<bool> {
    let (_, lane) = ty.lanes()?;
    lane.chars().next().filter(|lane| !"fdD".contains(*lane)).map(is_signed)
}

/// Calls SPIR-V's instruction of that name, with the types that its mangled name says.
pub(super) fn spirv<'m>(
    view: View<'m>,
    builder: &Builder<'m>,
    name: &str,
    result: Type<'m>,
    args: &[Value<'m>],
    parameters: &str,
) -> Inst<'m> {
    let types: Vec<Type<'m>> = args.iter().map(|arg| arg.ty()).collect();
    let instruction =
        view.function_or_declared(&mangle(&format!("__spirv_{name}"), parameters), result.function(&types, false));
    instruction.set_call_conv(SPIR_FUNC);
    instruction.attributes(AttributeIndex::Function).add_flag("convergent");
    let call = builder.call(instruction, args, "");
    call.set_call_conv(SPIR_FUNC);
    call
}

/// Returns the mangled type of a pointer to `element` (`PU3AS1j`).
pub(super) fn mangled_pointer(pointer: Value<'_>, element: &str) -> String {
    let space = pointer.ty().space().map_or(0, |space| space.number());
    if space == 0 { format!("P{element}") } else { format!("PU3AS{space}{element}") }
}
