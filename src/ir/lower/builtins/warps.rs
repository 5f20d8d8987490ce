//! Functions of CUDA's warps (`kassay_warp_*`, which CUDA's headers declare), and those of sub-groups of which all
//! work-items take part. The simulator has the former for whatever lanes a mask names; devices have the latter, which
//! do the same where all lanes of a warp come to them together.

use super::call::{Call, Replacement};
use crate::kernel::builtins::mangle;
use crate::llvm::{AttributeIndex, IntPredicate, Type, Value};

/// How the names begin.
const OF_WARPS: &str = "kassay_warp_";
const OF_SUB_GROUPS: &str = "sub_group_";

/// For devices: the function of sub-groups, and of its result what the mask names.
pub(super) fn together<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let function = call.name.strip_prefix(OF_WARPS)?;
    let (word, no) = (call.type_of().int(32), call.word(0));
    let votes = |vote: Value<'m>| {
        let lanes = word.vector(4);
        called(call, "_Z16sub_group_balloti", lanes, &[vote])
    };
    let truth = |is_so: Value<'m>| Some(Replacement::Value(call.builder.zext(is_so, call.result, "")));
    match (function, &call.args[..]) {
        ("active", []) => Some(Replacement::Value(call.builder.lane(votes(call.word(1)), 0))),
        ("ballot", [mask, vote]) => {
            let none = Value::vector(&[no; 4]);
            let named = call.builder.insert_element(none, *mask, call.word(0), "");
            Some(Replacement::Value(call.builder.and(votes(*vote), named, "")))
        }
        ("any", [mask, vote]) => {
            let named = call.builder.and(call.builder.lane(votes(*vote), 0), *mask, "");
            truth(call.builder.icmp(IntPredicate::LLVMIntNE, named, no, ""))
        }
        ("all", [mask, vote]) => {
            let against = call.builder.icmp(IntPredicate::LLVMIntEQ, *vote, no, "");
            let against = votes(call.builder.zext(against, word, ""));
            let named = call.builder.and(call.builder.lane(against, 0), *mask, "");
            truth(call.builder.icmp(IntPredicate::LLVMIntEQ, named, no, ""))
        }
        (_, [_, args @ ..]) => {
            let same = if function.starts_with("shuffle") { "shuffle" } else { function };
            let name = mangle(&format!("{OF_SUB_GROUPS}{same}"), call.parameters.strip_prefix('j')?);
            Some(Replacement::Value(called(call, &name, call.result, args)))
        }
        _ => None,
    }
}

/// For the simulator, in modules that were CUDA: the function of warps that does the same, for all lanes.
pub(super) fn with_all_lanes<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let function = call.name.strip_prefix(OF_SUB_GROUPS)?;
    let name = mangle(&format!("{OF_WARPS}{function}"), &format!("j{}", call.parameters));
    let args: Vec<Value<'m>> = std::iter::once(call.word(u32::MAX)).chain(call.args.iter().copied()).collect();
    Some(Replacement::Value(called(call, &name, call.result, &args)))
}

/// Calls a function in which work-items wait for each other.
fn called<'m>(call: &Call<'_, 'm>, name: &str, result: Type<'m>, args: &[Value<'m>]) -> Value<'m> {
    let types: Vec<_> = args.iter().map(|arg| arg.ty()).collect();
    let inst = call.declared(name, result.function(&types, false), args);
    if let Some(function) = inst.called_function() {
        function.attributes(AttributeIndex::Function).add_flag("convergent");
    }
    inst.value()
}
