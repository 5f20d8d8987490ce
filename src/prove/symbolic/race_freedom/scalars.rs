//! Integers that are passed by value: arguments, components of vectors, members of structs.

use kassay_model::condition::{Quantity, ScalarArgument};
use kassay_model::interface::{ArgKind, Scalar, Type};

use super::kernel::Kernel;
use crate::program::{Kind, Op, Region};
use crate::solve::integers::{Integers, Polynomial, Range};

/// Most integers of one argument.
const MAX_OF_ARGUMENT: usize = 8;
/// Names of a vector's components.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The symbol of an integer of `bits` bits in an argument that is passed by value; `offset` is in bytes.
pub fn scalar_name(position: u32, offset: u64, bits: u32) -> String {
    format!("argument {position}+{offset}, {bits} bits")
}

/// An integer within a type.
struct Part {
    offset: u64,
    scalar: Scalar,
    name: String,
}

/// The integers of a type, at most so many that they can be told apart.
fn parts(ty: &Type, offset: u64, name: &str) -> Vec<Part> {
    match ty {
        Type::Scalar(scalar) if !scalar.is_float() => vec![Part { offset, scalar: *scalar, name: name.to_owned() }],
        Type::Vector(scalar, lanes @ 2..=4) if !scalar.is_float() => {
            let part = |(i, component): (u64, &&str)| Part {
                offset: offset + i * scalar.size(),
                scalar: *scalar,
                name: format!("{name}.{component}"),
            };
            (0..u64::from(*lanes)).zip(&COMPONENTS).map(part).collect()
        }
        Type::Struct(record) if !record.is_union => {
            let of_field = |field: &kassay_model::interface::Field| {
                parts(&field.ty, offset + field.offset, &format!("{name}.{}", field.name))
            };
            record.fields.iter().flat_map(of_field).collect()
        }
        _ => Vec::new(),
    }
}

fn part(kernel: &Kernel<'_>, scalar: &ScalarArgument) -> Option<Part> {
    let ArgKind::Value(ty) = &kernel.interface.args.get(scalar.position as usize)?.kind else { return None };
    parts(ty, 0, "").into_iter().find(|part| part.offset == scalar.offset)
}

/// An integer as the signed number of its bits, and how many they are.
pub fn signed(scalar: &ScalarArgument, kernel: &Kernel<'_>, integers: &mut Integers) -> Option<(Polynomial, u32)> {
    let part = part(kernel, scalar)?;
    let ArgKind::Value(ty) = &kernel.interface.args.get(scalar.position as usize)?.kind else { return None };
    let bits = 8 * u32::try_from(part.scalar.size()).ok()?;
    let whole = kernel.program.shape(*kernel.program.params.get(scalar.position as usize)?);
    let name = match ty {
        // As the encoding names the lanes of an argument.
        Type::Vector(..) if whole.kind == Kind::Int(bits) && whole.lanes > 0 => {
            format!("{}.{}", scalar_name(scalar.position, 0, bits), scalar.offset / part.scalar.size())
        }
        Type::Scalar(_) if whole.kind == Kind::Int(bits) && whole.lanes == 0 => scalar_name(scalar.position, 0, bits),
        Type::Struct(_) if kernel.is_by_value(scalar.position) => scalar_name(scalar.position, scalar.offset, bits),
        _ => return None,
    };
    Some((integers.symbol(&name, Range::signed(bits)), bits))
}

/// Whether the source calls an integer unsigned.
pub fn is_unsigned(kernel: &Kernel<'_>, scalar: &ScalarArgument) -> bool {
    part(kernel, scalar).is_some_and(|part| !part.scalar.is_signed())
}

/// The integers on which addresses, branches or barriers depend.
pub fn relevant(kernel: &Kernel<'_>) -> Vec<Quantity> {
    let program = kernel.program;
    let loads = |position: u32| {
        let is_load = |i: &crate::program::Instruction| matches!(i.op, Op::Load) && kernel.is_relevant(i.result);
        let mut all = program.instructions().filter(|(_, i)| is_load(i));
        all.any(|(_, i)| kernel.regions(i.operands[0]).contains(&Region::Argument(position)))
    };
    let mut all = Vec::new();
    for (position, value) in (0u32..).zip(&program.params) {
        let Some(arg) = kernel.interface.args.get(position as usize) else { continue };
        let ArgKind::Value(ty) = &arg.kind else { continue };
        let depends = if kernel.is_by_value(position) { loads(position) } else { kernel.is_relevant(*value) };
        if !depends {
            continue;
        }
        let quantity = |part: Part| {
            let name = arg.display_name() + &part.name;
            Quantity::Scalar(ScalarArgument { position, offset: part.offset, name })
        };
        all.extend(parts(ty, 0, "").into_iter().take(MAX_OF_ARGUMENT).map(quantity));
    }
    all
}
