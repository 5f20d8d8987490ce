//! Intrinsics of LLVM that access memory: turns them into plain accesses, which the simulator can watch, or into copies
//! and fills, and refuses the others.

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use crate::llvm::{Attribute, AttributeIndex, Function, Inst, Opcode, View, passes};

/// Beginnings of the names of intrinsics that LLVM's own passes turn into plain accesses, lane by lane.
const IN_LANES: [&str; 3] = ["llvm.masked.", "llvm.vp.", "llvm.experimental.memset.pattern"];

/// LLVM's passes for that. Without a machine they take it that there are no instructions for these.
const PLAIN: &str = "pre-isel-intrinsic-lowering,function(scalarize-masked-mem-intrin)";

/// LLVM's encoding of effects confined to memory that the module cannot access (see `ModRef.h`).
const INACCESSIBLE_MEMORY: u64 = 3 << 2;

/// Beginnings of the names of intrinsics that have effects, but on no memory of the program: marks for optimisers.
const MARKS: [&str; 10] = [
    "llvm.lifetime.",
    "llvm.invariant.",
    "llvm.assume",
    "llvm.prefetch",
    "llvm.donothing",
    "llvm.sideeffect",
    "llvm.dbg.",
    "llvm.var.annotation",
    "llvm.ptr.annotation",
    "llvm.experimental.noalias.scope.decl",
];

/// Beginnings of the names of intrinsics that change how the processor computes from then on.
const OF_THE_PROCESSOR: [&str; 2] = ["llvm.set.", "llvm.reset."];

/// Returns the positions of the pointers through which an intrinsic copies or fills memory, and whether it writes
/// there; its operand 2 is the number of bytes. `None` if it does neither.
pub fn transferred(name: &str) -> Option<&'static [(u32, bool)]> {
    match name {
        _ if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => Some(&[(1, false), (0, true)]),
        _ if name.starts_with("llvm.memset.") => Some(&[(0, true)]),
        _ => None,
    }
}

/// Returns whether an intrinsic accesses no memory of the program.
pub fn is_harmless(intrinsic: Function<'_>) -> bool {
    let name = intrinsic.name();
    if OF_THE_PROCESSOR.iter().any(|begin| name.starts_with(begin)) {
        return false;
    }
    let effects = intrinsic.attributes(AttributeIndex::Function).get("memory").and_then(Attribute::number);
    effects.is_some_and(|effects| effects & !INACCESSIBLE_MEMORY == 0)
        || MARKS.iter().any(|begin| name.starts_with(begin))
}

/// Turns intrinsics that access memory into plain accesses, copies and fills.
///
/// # Errors
/// `Internal` if a pass fails.
pub fn expand(module: &mut Module<'_>) -> Result<()> {
    let is_in_lanes =
        |inst: Inst<'_>| name(inst).is_some_and(|name| IN_LANES.iter().any(|begin| name.starts_with(begin)));
    if View::of(module).instructions().into_iter().any(is_in_lanes) {
        passes::run(module, None, PLAIN)?;
    }
    let view = View::of(module);
    view.instructions().into_iter().for_each(|inst| simplify(view, inst));
    Ok(())
}

/// Makes ordinary copies and fills of those in atomic elements, and of those that must not become calls.
fn simplify<'m>(view: View<'m>, call: Inst<'m>) {
    let Some(name) = name(call) else { return };
    let Some(plain) = ["llvm.memcpy", "llvm.memmove", "llvm.memset"].into_iter().find(|plain| {
        let rest = name.strip_prefix(plain).unwrap_or_default();
        rest.starts_with(".inline.") || rest.starts_with(".element.unordered.atomic.")
    }) else {
        return;
    };
    let operands = [call.operand(0), call.operand(1), call.operand(2)];
    let types = match plain {
        "llvm.memset" => vec![operands[0].ty(), operands[2].ty()],
        _ => operands.map(|operand| operand.ty()).to_vec(),
    };
    let parameters = [operands[0].ty(), operands[1].ty(), operands[2].ty(), view.int_type(1)];
    let ty = view.void_type().function(&parameters, false);
    let callee = view.function_or_declared(&view.intrinsic_name(plain, &types), ty);
    let builder = view.builder();
    builder.before(call);
    let new = builder.call(callee, &[operands[0], operands[1], operands[2], view.int_type(1).int(0)], "");
    for position in [0, 1] {
        let align = call.attributes(AttributeIndex::Parameter(position)).get("align").and_then(Attribute::number);
        if let Some(align) = align {
            new.attributes(AttributeIndex::Parameter(position)).add_number("align", align);
        }
    }
    drop(builder);
    call.erase();
}

/// Refuses what accesses memory, or goes to code, in a way that nothing watches.
///
/// # Errors
/// `Caller` if the module does such a thing.
pub fn refuse(module: &Module<'_>) -> Result<()> {
    for inst in View::of(module).instructions() {
        let what = match inst.opcode() {
            Opcode::LLVMIndirectBr => "jumps to an address (`indirectbr`)".to_owned(),
            Opcode::LLVMVAArg => "reads variable arguments (`va_arg`)".to_owned(),
            Opcode::LLVMInvoke | Opcode::LLVMResume | Opcode::LLVMCatchSwitch | Opcode::LLVMCleanupRet => {
                "handles exceptions".to_owned()
            }
            _ => match name(inst).zip(inst.called_function()) {
                Some((name, callee)) if !is_known(&name) && !is_harmless(callee) => format!("calls `{name}`"),
                _ => continue,
            },
        };
        let place = inst.location().map(|l| format!(" ({l})")).unwrap_or_default();
        return Err(Error::caller(format!("the kernel {what}{place}, which the simulator cannot watch"))
            .help("write it with plain loads and stores, or run the kernel on an OpenCL device (--device opencl)"));
    }
    Ok(())
}

/// Returns whether the simulator knows what to do about an intrinsic that accesses memory.
fn is_known(name: &str) -> bool {
    transferred(name).is_some() || name.starts_with("llvm.stacksave") || name.starts_with("llvm.stackrestore")
}

/// Returns the name of the intrinsic that an instruction calls.
fn name(inst: Inst<'_>) -> Option<String> {
    inst.callee().filter(|name| name.starts_with("llvm."))
}
