//! Replaces builtins whose results OpenCL defines exactly by LLVM's intrinsics, which passes know.

use kassay_ir::kernel::builtins;
use kassay_ir::llvm::{Builder, Inst, Value, View};

/// Replaces them in a module. Integers only: what devices do with special values of floats differs.
pub fn lower(module: View<'_>) {
    let builder = module.builder();
    for call in module.instructions().into_iter().filter(|inst| inst.is_call()) {
        if let Some(value) = lowered(call, module, &builder) {
            builder.at_end(call.block());
            call.replace_and_erase(value);
        }
    }
}

/// Returns the value of a call, computed before it; `None` if it is no such builtin.
fn lowered<'m>(call: Inst<'m>, module: View<'m>, builder: &Builder<'m>) -> Option<Value<'m>> {
    let callee = call.called_function().filter(|f| !f.has_body())?;
    let name = callee.name();
    let (builtin, parameters) = builtins::demangle(&name)?;
    let is_signed = builtins::first_scalar(parameters).map(builtins::is_signed)?;
    let (ty, args) = (call.ty(), call.args());
    let bits = ty.scalar().int_width()?;
    if args.iter().any(|arg| arg.ty() != ty) {
        return None;
    }
    let by_sign = |signed, unsigned| if is_signed { signed } else { unsigned };
    let no = module.int_type(1).int(0);
    let (intrinsic, operands) = match (builtin, &args[..]) {
        // OpenCL C 3.0, 6.15.3.
        ("rotate", [value, amount]) => ("fshl", vec![*value, *value, *amount]),
        ("min", [x, y]) => (by_sign("smin", "umin"), vec![*x, *y]),
        ("max", [x, y]) => (by_sign("smax", "umax"), vec![*x, *y]),
        // The result is unsigned, so that of the least number is exact.
        ("abs", [x]) if is_signed => ("abs", vec![*x, no]),
        ("abs", [x]) => return Some(*x),
        ("popcount", [x]) => ("ctpop", vec![*x]),
        ("clz", [x]) => ("ctlz", vec![*x, no]),
        ("ctz", [x]) => ("cttz", vec![*x, no]),
        ("add_sat", [x, y]) => (by_sign("sadd.sat", "uadd.sat"), vec![*x, *y]),
        ("sub_sat", [x, y]) => (by_sign("ssub.sat", "usub.sat"), vec![*x, *y]),
        _ => return None,
    };
    let suffix = ty.lanes().map_or(format!("i{bits}"), |lanes| format!("v{lanes}i{bits}"));
    let types: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
    let function = module.function_or_declared(&format!("llvm.{intrinsic}.{suffix}"), ty.function(&types, false));
    builder.before(call);
    Some(builder.call(function, &operands, "").value())
}
