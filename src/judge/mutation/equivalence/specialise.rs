//! Puts what is known of a suite's launches into a kernel: constants for arguments, sizes and ids where they are known,
//! ranges where they are not.

use kassay_ir::kernel::builtins::{self, Builtin, Family};
use kassay_ir::llvm::{AttributeIndex, Attributes, Function, Inst, Type, TypeKind, Value, View};
use kassay_suite::launch::ImageShape;

use super::launch_facts::{ArgFact, LaunchFacts, Span};

/// Specialises a module in which everything is inlined into the kernel `entry`.
pub fn specialise(module: View<'_>, entry: &str, facts: &LaunchFacts) {
    let Some(kernel) = module.function(entry) else { return };
    for call in kernel.instructions().into_iter().filter(|inst| inst.is_call()) {
        specialise_call(call, module, kernel, facts);
    }
    for (position, fact) in (0u32..).zip(facts.args()) {
        specialise_argument(kernel, position, fact);
    }
}

fn specialise_argument(kernel: Function<'_>, position: u32, fact: &ArgFact) {
    let Some(argument) = kernel.param(position) else { return };
    let ty = argument.ty();
    match fact {
        ArgFact::Value(bytes) => {
            if let Some(value) = constant(ty, bytes) {
                argument.replace_uses(value);
            }
        }
        ArgFact::Span(bytes, span) if ty.int_width().is_some_and(|bits| bits as usize == bytes * 8) => {
            limit(kernel.attributes(AttributeIndex::Parameter(position)), ty, *span);
        }
        ArgFact::Null if ty.is_pointer() => argument.replace_uses(ty.null()),
        ArgFact::Same(other) => {
            let other = kernel.param(*other).filter(|other| other.ty() == ty);
            other.into_iter().for_each(|other| argument.replace_uses(other));
        }
        ArgFact::Span(..) | ArgFact::Null | ArgFact::Image(_) | ArgFact::Unknown => {}
    }
}

/// Returns the constant of a type with these bytes, as far as types of arguments are numbers.
fn constant<'m>(ty: Type<'m>, bytes: &[u8]) -> Option<Value<'m>> {
    let scalar = ty.scalar();
    let size = usize::try_from(scalar.bits()?).ok()?.div_ceil(8);
    let lane = |bytes: &[u8]| {
        let number = bytes.iter().rev().fold(0u128, |all, byte| all << 8 | u128::from(*byte));
        match scalar.kind() {
            TypeKind::LLVMIntegerTypeKind => Some(scalar.int(u64::try_from(number).ok()?)),
            // A constant made of a number loses what bits of a NaN say.
            TypeKind::LLVMFloatTypeKind => {
                Some(f32::from_bits(number as u32)).filter(|n| !n.is_nan()).map(|n| scalar.float(n.into()))
            }
            TypeKind::LLVMDoubleTypeKind => {
                Some(f64::from_bits(number as u64)).filter(|n| !n.is_nan()).map(|n| scalar.float(n))
            }
            _ => None,
        }
    };
    match ty.lanes() {
        None => lane(bytes.get(..size).filter(|_| bytes.len() == size)?),
        Some(lanes) => {
            let lanes: Option<Vec<Value<'m>>> =
                (0..lanes as usize).map(|i| lane(bytes.get(i * size..(i + 1) * size)?)).collect();
            Some(Value::vector(&lanes?))
        }
    }
}

fn specialise_call(call: Inst<'_>, module: View<'_>, kernel: Function<'_>, facts: &LaunchFacts) {
    let Some(name) = call.callee() else { return };
    let Some((builtin, parameters)) = builtins::demangle(&name) else { return };
    let args = call.args();
    // A work-item alone in its group never waits, or in the launch.
    let is_of_grid = Builtin::of(&name).is_some_and(Builtin::is_of_grid);
    let is_alone = facts.has_single_items() && (!is_of_grid || (0..3).all(|d| facts.has_single_group(d)));
    if builtins::family(&name) == Some(Family::Barrier) && call.ty().is_void() && is_alone {
        call.erase();
        return;
    }
    let span = match (parameters, &args[..]) {
        ("v", []) => facts.query(builtin, 0),
        ("j", [dimension]) => dimension.as_u64().and_then(|d| facts.query(builtin, d)),
        (_, [image]) => size_of_image(builtin, *image, kernel, facts).map(|size| (size, size)),
        _ => None,
    };
    let (Some(span), Some(_)) = (span, call.ty().int_width()) else { return };
    if span.0 == span.1 {
        call.replace_and_erase(call.ty().int(span.0));
        return;
    }
    let dimension = args.first().and_then(|dimension| dimension.as_u64());
    if builtin == "get_local_id" && dimension.is_some_and(|d| facts.has_single_group(d)) {
        let function = same_function(module, call, &builtins::mangle("get_global_id", parameters));
        let builder = module.builder();
        builder.before(call);
        let id = builder.call(function, &args, "");
        limit(id.attributes(AttributeIndex::Result), call.ty(), span);
        call.replace_and_erase(id);
    } else {
        limit(call.attributes(AttributeIndex::Result), call.ty(), span);
    }
}

/// Returns the function of that name; if it is not declared, it is as the called one.
pub(super) fn same_function<'m>(module: View<'m>, call: Inst<'m>, name: &str) -> Function<'m> {
    if let Some(function) = module.function(name) {
        return function;
    }
    let called = call.called_function().expect("a builtin is called by its name");
    let function = module.add_function(name, called.value_type());
    for attribute in called.attributes(AttributeIndex::Function).all() {
        function.attributes(AttributeIndex::Function).add(attribute);
    }
    function
}

/// Adds a range to a parameter or a result of integers, if it says anything.
fn limit(place: Attributes<'_>, ty: Type<'_>, span: Span) {
    let Some(bits) = ty.int_width().filter(|bits| (1..=64).contains(bits)) else { return };
    let most = u64::MAX >> (64 - bits);
    if span.1 <= most && span != (0, most) {
        place.add_range(bits, span.0, span.1);
    }
}

/// Returns what a query of an image's size answers, if the image is an argument.
fn size_of_image(builtin: &str, image: Value<'_>, kernel: Function<'_>, facts: &LaunchFacts) -> Option<u64> {
    let position = kernel.params().into_iter().position(|param| param == image)?;
    let ArgFact::Image(shape) = facts.args().get(position)? else { return None };
    match builtin {
        "get_image_width" => Some(match shape {
            ImageShape::D1 { width }
            | ImageShape::D1Array { width, .. }
            | ImageShape::D1Buffer { width }
            | ImageShape::D2 { width, .. }
            | ImageShape::D2Array { width, .. }
            | ImageShape::D3 { width, .. } => *width,
        }),
        "get_image_height" => match shape {
            ImageShape::D2 { height, .. } | ImageShape::D2Array { height, .. } | ImageShape::D3 { height, .. } => {
                Some(*height)
            }
            _ => None,
        },
        "get_image_depth" => match shape {
            ImageShape::D3 { depth, .. } => Some(*depth),
            _ => None,
        },
        "get_image_array_size" => match shape {
            ImageShape::D1Array { layers, .. } | ImageShape::D2Array { layers, .. } => Some(*layers),
            _ => None,
        },
        _ => None,
    }
}
