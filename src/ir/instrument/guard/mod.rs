//! Guards a kernel: no work-item runs forever, accesses memory beyond its buffers, divides by zero or traps. The
//! launch's slot in the probe buffer holds the fault of the first work-item that reports one at its end (its last
//! fault). A work-item without fuel leaves its loops as soon as it safely can; one with another fault continues within
//! its bounds and its fuel. Local memory is initialised (`locals`).
//!
//! The guards are woven into a kernel in which everything is inlined and promoted ([`inline_and_promote`]), so that
//! loops are natural loops and pointers can be traced back to their objects.

mod bounds;
pub(super) mod builtin_accesses;
pub(super) mod division;
mod emit;
mod fuel;
pub(super) mod guarded_instructions;
mod images;
mod locals;
pub(super) mod loops;
pub(super) mod pointers;

use inkwell::module::Module;
use inkwell::targets::{TargetMachine, TargetTriple};
use kassay_base::error::{Error, Result};

use self::emit::Emitter;
use self::pointers::Objects;
use super::layout::{FaultKind, GuardLayout, PARAMETERS_FUNCTION, SLOT_FUNCTION};
use crate::kernel::{canonical, inlined, parameters};
use crate::llvm::assumptions::Holder;
use crate::llvm::{AddressSpace, AttributeIndex, Block, DebugLocation, Function, Inst, Opcode, Value, View, passes};
use crate::lower::{spirv, traps};

/// The result of weaving guards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guards {
    /// By the number in a fault: the location of the guarded instruction or loop. Number 0 is unused.
    pub places: Vec<Option<DebugLocation>>,
}

impl Guards {
    /// Returns a readable description of the word [`super::layout::slot::FAULT`]; `None` if there is no fault.
    pub fn describe(&self, word: u32) -> Option<String> {
        let (kind, number) = FaultKind::read(word)?;
        let what = kind.words();
        let place = self.places.get(number as usize).and_then(Option::as_ref);
        Some(match place {
            Some(at) => format!("{what} at {at}"),
            None => what.to_owned(),
        })
    }
}

/// Inlines all helpers, however large, and promotes private variables. Divisions stay as they are.
///
/// # Errors
/// `Internal` if a pass fails or leaves a module that does not verify.
pub fn inline_and_promote(module: &mut Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    module.set_triple(&TargetTriple::create(spirv::TRIPLE));
    for f in View::of(module).functions().into_iter().filter(|f| f.has_body() && f.name() != entry) {
        let attributes = f.attributes(AttributeIndex::Function);
        attributes.remove("noinline");
        attributes.add_flag("alwaysinline");
    }
    division::hide(module);
    traps::mark(View::of(module));
    let pipeline = format!("{},function(sroa,mem2reg,simplifycfg)", inlined::passes(module, entry));
    passes::run(module, Some(machine), &pipeline)?;
    division::reveal(module);
    canonical::verify(module, "inlining everything")
}

/// Guards the kernel `entry` of a module prepared by [`inline_and_promote`]. Its last argument is the probe buffer of
/// `layout`; it is added if the kernel only has the arguments of `layout`. Debug information is removed; the result
/// holds what is still needed of it. With `record_loops`, every work-item records the loop in which its fuel ran out,
/// so that faults can name it. This carries one more value through all loops, and is only for modules that the device
/// does not optimise: Intel's vectoriser computes wrong results with it.
///
/// # Errors
/// `Internal` if the kernel is not as described, or the woven module does not verify.
pub fn weave(
    module: &mut Module<'_>,
    entry: &str,
    layout: GuardLayout,
    record_loops: bool,
    machine: &TargetMachine,
) -> Result<Guards> {
    let kernel = with_probe(module, entry, layout)?;
    let view = View::of(module);
    let objects = Objects::of(view, kernel);
    let accesses = guarded_instructions::accesses(kernel, &objects);
    let texels = images::texels(kernel);
    let divisions = guarded_instructions::divisions(kernel);
    let guarded = accesses.iter().map(|a| a.inst).chain(texels.iter().map(|t| t.inst));
    let guarded = guarded.chain(divisions.iter().map(|d| d.inst));
    let marked = traps::marked(view);
    let guarded = guarded.chain(marked.iter().copied());
    let mut places: Vec<_> =
        std::iter::once(None).chain(guarded.map(|i| i.location().filter(|l| l.line > 0))).collect();
    let starts = fuel::starts(view, kernel);
    // What is woven has no place in the source.
    view.strip_debug_info();

    let places_of = [PARAMETERS_FUNCTION, SLOT_FUNCTION].map(|name| in_probe(view, name));
    let emitter = Emitter::new(module, kernel, places_of)?;
    let mut code = 0;
    let mut next = |kind: FaultKind| {
        code += 1 << 8;
        code | kind as u32
    };
    for access in &accesses {
        bounds::guard(&emitter, layout, access, next(FaultKind::OutOfBounds))?;
    }
    for texel in &texels {
        images::guard(&emitter, texel, next(FaultKind::OutOfBounds))?;
    }
    for division in &divisions {
        division::guard(&emitter, division, next(FaultKind::Division))?;
    }
    for trap in marked {
        record_trap(&emitter, trap, next(FaultKind::Trap))?;
    }
    let spent = emitter.variable(emitter.const_i32(0));
    let end = single_return(&emitter, spent)?;
    let filled = locals::fill(&emitter, layout)?;
    let flagged = fuel::guard(&emitter, end, spent, record_loops, &starts, &mut places)?;
    if filled || flagged {
        emitter.at_entry();
        emitter.call(emitter.runtime("__kassay_meet")?, &[]);
    }
    drop(emitter);
    Holder::Function(kernel).drop_woven_effects();
    canonical::verify(module, "weaving guards")?;
    let pipeline = format!("{},function(sroa,mem2reg,simplifycfg)", inlined::passes(module, entry));
    passes::run(module, Some(machine), &pipeline)?;
    canonical::verify(module, "inlining guards")?;
    Ok(Guards { places })
}

/// Records a fault where the kernel traps. The work-item goes on, as after others.
fn record_trap<'m>(emitter: &Emitter<'m>, trap: Inst<'m>, code: u32) -> Result<()> {
    let fault_if = emitter.runtime("__kassay_fault_if")?;
    emitter.builder.before(trap);
    let fault = emitter.fault.value();
    emitter.call(fault_if, &[fault, emitter.const_i32(1), emitter.const_i32(code)]);
    emitter.builder.at_end(trap.block());
    trap.erase();
    Ok(())
}

/// Returns the kernel with the probe buffer as its last argument.
fn with_probe<'m>(module: &'m Module<'_>, entry: &str, layout: GuardLayout) -> Result<Function<'m>> {
    let view = View::of(module);
    let kernel = view.function(entry).filter(|f| f.has_body());
    let kernel = kernel.ok_or_else(|| Error::internal(format!("the kernel {entry} is gone")))?;
    let given = kernel.param_count();
    if given == layout.args + 1 {
        return Ok(kernel);
    }
    if given != layout.args {
        return Err(Error::internal(format!("{entry} has {given} arguments, not {}", layout.args)));
    }
    if kernel.is_used() {
        return Err(Error::internal(format!("{entry} is called, although everything is inlined")));
    }
    let extended = parameters::append(kernel, view.pointer_type(AddressSpace::Global), "kassay_probe");
    let new = extended.function;
    parameters::describe(new, "kassay_probe", "uint*", AddressSpace::Global);
    // SAFETY: nothing calls the old function, whose handle is not used again.
    unsafe { extended.replace_old(|_| None) };
    Ok(new)
}

/// Returns the declaration of a function that finds a place in the probe buffer.
fn in_probe<'m>(view: View<'m>, name: &str) -> Function<'m> {
    let pointer = view.pointer_type(AddressSpace::Global);
    view.function_or_declared(name, pointer.function(&[pointer], false))
}

/// Makes the kernel return from a single block, which reports the work-item's results to the slot. `spent`: the
/// variable with the loop in which its fuel ran out.
fn single_return<'m>(emitter: &Emitter<'m>, spent: Value<'m>) -> Result<Block<'m>> {
    let report = emitter.runtime("__kassay_report")?;
    let returns = emitter.kernel.blocks().into_iter().map(Block::terminator).filter(|t| t.is(Opcode::LLVMRet));
    let returns: Vec<_> = returns.collect();
    let end = emitter.kernel.append_block("kassay.end");
    for old in returns {
        let block = old.block();
        old.erase();
        emitter.builder.at_end(block);
        emitter.builder.br(end);
    }
    emitter.builder.at_end(end);
    let fault = emitter.load(emitter.int, emitter.fault);
    let fuel = emitter.load(emitter.int, emitter.fuel);
    let spent = emitter.load(emitter.int, spent);
    emitter.call(report, &[emitter.parameters, emitter.slot, fault, fuel, spent]);
    emitter.builder.ret(None);
    Ok(end)
}
