//! Inlines everything into the kernel without losing any instruction.
//!
//! LLVM's inliner simplifies what it copies: an unused load, or a division by the constant 0, would disappear before it
//! is checked. So loads are volatile and divisions are calls while it runs.

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};

use crate::kernel::inlined;
use crate::llvm::{AttributeIndex, Builder, Inst, Linkage, MetadataKind, Node, Opcode, View, passes};

/// Metadata of loads that are volatile only while the inliner runs.
const KEPT_LOAD: &str = "kassay.kept";
/// Prefix of the functions that replace divisions while the inliner runs.
const DIVISION: &str = "__kassay_division.";

const DIVISIONS: [Opcode; 4] = [Opcode::LLVMSDiv, Opcode::LLVMUDiv, Opcode::LLVMSRem, Opcode::LLVMURem];

/// Maximum number of instructions of a kernel once everything is inlined; compiling more takes minutes.
const MAX_INSTRUCTIONS: u64 = 1_000_000;

/// Refuses kernels that would become too large when everything is inlined.
///
/// # Errors
/// `Caller` if the kernel becomes too large.
pub fn refuse_large(module: &Module<'_>, entry: &str) -> Result<()> {
    // A recursive function is refused later.
    let size = inlined::size(module, entry).unwrap_or(0);
    if size <= MAX_INSTRUCTIONS {
        return Ok(());
    }
    Err(Error::caller(format!(
        "`{entry}` is too large for the simulator: {size} instructions with everything inlined, {MAX_INSTRUCTIONS} at most"
    ))
    .help("use an OpenCL device for this kernel, or a smaller variant of it"))
}

/// Inlines everything, so that the kernel is the only function with a body unless one is recursive.
///
/// # Errors
/// `Caller` if the kernel becomes too large; `Internal` if the pass fails.
pub fn everything(module: &mut Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    refuse_large(module, entry)?;
    hide(module, entry);
    passes::run(module, Some(machine), "always-inline,globaldce")?;
    reveal(module);
    Ok(())
}

/// Marks the helpers for the inliner, and hides from it what it would simplify.
fn hide(module: &Module<'_>, entry: &str) {
    let view = View::of(module);
    let kept = view.metadata_kind(KEPT_LOAD);
    for f in view.functions().into_iter().filter(|f| f.has_body() && f.name() != entry) {
        f.attributes(AttributeIndex::Function).add_flag("alwaysinline");
        // Internal, so that nothing is left of it.
        f.set_linkage(Linkage::LLVMInternalLinkage);
        for inst in f.instructions() {
            match inst.opcode() {
                Opcode::LLVMLoad => keep_load(inst, kept),
                opcode if DIVISIONS.contains(&opcode) => hide_division(view, inst),
                _ => {}
            }
        }
    }
}

/// Undoes what [`hide`] did to loads and divisions.
fn reveal(module: &Module<'_>) {
    let view = View::of(module);
    let kept = view.metadata_kind(KEPT_LOAD);
    let divisions: Vec<_> = view.functions().into_iter().filter(|f| f.name().starts_with(DIVISION)).collect();
    for inst in view.instructions() {
        if inst.is(Opcode::LLVMLoad) && inst.metadata(kept).is_some() {
            inst.set_volatile(false);
            inst.set_metadata(kept, None);
        }
        reveal_division(view, inst);
    }
    for f in divisions {
        // SAFETY: a declaration whose calls all became divisions, and the last that is done here.
        unsafe { f.delete() };
    }
}

fn keep_load(load: Inst<'_>, kind: MetadataKind) {
    let from_variable = load.operand(0).as_opcode(Opcode::LLVMAlloca).is_some();
    if !load.is_volatile() && !from_variable {
        load.set_volatile(true);
        load.set_metadata(kind, Some(Node::new(load.ty(), &[])));
    }
}

/// Replaces a division by a call of a function without a body: one function per opcode, type and exactness.
fn hide_division<'m>(view: View<'m>, division: Inst<'m>) {
    let ty = division.ty();
    let exact = u32::from(division.is_exact());
    let name = format!("{DIVISION}{}.{exact}.{}", division.opcode() as u32, ty.text());
    let callee = view.function_or_declared(&name, ty.function(&[ty, ty], false));
    let operands = [division.operand(0), division.operand(1)];
    replace_instruction(view, division, |builder| builder.call(callee, &operands, ""));
}

fn reveal_division<'m>(view: View<'m>, call: Inst<'m>) {
    let Some(name) = call.callee() else { return };
    let Some(rest) = name.strip_prefix(DIVISION) else { return };
    let mut parts = rest.split('.');
    let opcode = parts.next().and_then(|number| number.parse::<u32>().ok());
    let Some(opcode) = DIVISIONS.into_iter().find(|known| Some(*known as u32) == opcode) else { return };
    let exact = parts.next() == Some("1");
    let operands = [call.operand(0), call.operand(1)];
    // The builder would fold constants, so the instruction is built on a stand-in and gets its operands afterwards.
    let build = |builder: &Builder<'m>| {
        let stand_in = builder.freeze(operands[0], "").as_instruction().expect("a frozen value is an instruction");
        let division = builder.binary(opcode, stand_in, stand_in, "");
        let division = division.as_instruction().expect("what is made of an instruction is one");
        division.set_operand(0, operands[0]);
        division.set_operand(1, operands[1]);
        stand_in.erase();
        if exact {
            division.set_exact(true);
        }
        division
    };
    replace_instruction(view, call, build);
}

/// Replaces an instruction by a new one with its name and debug location.
fn replace_instruction<'m>(view: View<'m>, old: Inst<'m>, new: impl FnOnce(&Builder<'m>) -> Inst<'m>) {
    let builder = view.builder();
    builder.before(old);
    let name = old.name();
    let new = new(&builder);
    drop(builder);
    old.replace_and_erase(new);
    new.set_name(&name);
}
