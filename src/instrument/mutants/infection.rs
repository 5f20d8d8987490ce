//! Determines which mutants a run reaches, and which of them would change a value at their place.
//!
//! Weak mutation (Howden: Weak mutation testing and completeness of test sets, IEEE TSE 8(4), 1982): a mutant whose
//! place is not executed, or whose values never differ from the original's, cannot be killed by that run. The original
//! runs; the mutants' values are computed in addition and compared.

use std::collections::BTreeMap;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use super::edit::{Edit, Expr};
use super::expr::{ExprContext, Hazard};
use super::ir_tools::{self, Tools, type_of};
use super::resolve::{Change, InstructionChanges, Resolved, resolve};
use super::thread_arguments;
use crate::cfg::sites::Sites;
use crate::error::{Error, Result};
use crate::instrument::coverage::drop_effect_attributes;
use crate::instrument::layout::HEADER_WORDS;
use crate::instrument::marks::Marker;
use crate::instrument::runtime;
use crate::kernel::canonical;
use crate::kernel::ir::{Function, Inst};

/// Number of mutants per word.
const MUTANTS_PER_WORD: usize = 16;

/// The observations of a mutant in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MutantObservation {
    /// A work-item executed its place.
    pub reached: bool,
    /// At least once its value differed from the original's, or was undefined. For mutants that change no value: the
    /// same as `reached`.
    pub infected: bool,
}

/// The probe buffer of a module woven for infection: after [`HEADER_WORDS`], two bits for each mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfectionLayout {
    mutants: usize,
}

impl InfectionLayout {
    /// Number of words of the buffer.
    pub fn words(&self) -> u64 {
        HEADER_WORDS + self.mutants.div_ceil(MUTANTS_PER_WORD) as u64
    }

    /// Decodes the buffer after a run, by mutant in the order of weaving. Missing words count as zero.
    pub fn read(&self, probe: &[u32]) -> Vec<MutantObservation> {
        let bits = |i: usize| probe.get(word(i) as usize).copied().unwrap_or(0) >> shift(i);
        (0..self.mutants).map(|i| MutantObservation { reached: bits(i) & 1 != 0, infected: bits(i) & 2 != 0 }).collect()
    }
}

fn word(mutant: usize) -> u32 {
    (HEADER_WORDS as usize + mutant / MUTANTS_PER_WORD) as u32
}

fn shift(mutant: usize) -> u32 {
    (mutant % MUTANTS_PER_WORD * 2) as u32
}

const REACHED: u32 = 1;
const REACHED_AND_INFECTED: u32 = 3;

/// Weaves probes for `mutants` into the canonical form that `sites` were read from. A mutant is given by its number
/// (for messages), its edit, and whether it counts as infected wherever it is reached (structural changes do in any
/// case). The kernel gets an additional last argument, the probe buffer (`global uint *`).
///
/// # Errors
/// `Internal` if an edit does not fit the module, or the woven module does not verify.
pub fn weave(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &Edit, bool)]) -> Result<InfectionLayout> {
    let mut resolved = resolved(module, sites, mutants)?;
    runtime::link_infection(module)?;
    let seen = runtime::function(module, "__kassay_seen")?;
    let own = |f: usize| resolved.changes.keys().any(|p| p.function == f) || resolved.edges.keys().any(|e| e.0 == f);
    let needs = thread_arguments::needs(&resolved.functions, sites, &own)?;
    let tools = Tools::new(module);
    let probes: Vec<LLVMValueRef> =
        resolved.functions.iter().map(|f| thread_arguments::stand_in_probe(&tools, *f)).collect();
    let structural: Vec<bool> = mutants.iter().map(|(.., structural)| *structural).collect();
    let sink = |function: usize| Sink::Bits { probe: probes[function], seen };
    insert_probes(&resolved, &tools, &structural, &sink)?;
    let values = thread_arguments::probe(&tools, &mut resolved.functions, &needs);
    for (stand_in, value) in probes.into_iter().zip(values) {
        thread_arguments::settle_one(stand_in, value);
    }
    drop_effect_attributes(module);
    canonical::verify(module, "weaving infection probes")?;
    Ok(InfectionLayout { mutants: mutants.len() })
}

/// Weaves a mark ([`crate::instrument::marks`]) instead of probes for each of `mutants`, which are given as for
/// [`weave`]. Goals are numbered by index in `mutants`; a goal is covered where its mutant is infected. The kernel's
/// arguments do not change.
///
/// # Errors
/// Those of [`weave`].
pub fn mark(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &Edit, bool)]) -> Result<()> {
    let resolved = resolved(module, sites, mutants)?;
    let marker = Marker::new(module);
    let structural: Vec<bool> = mutants.iter().map(|(.., structural)| *structural).collect();
    insert_probes(&resolved, &marker.tools, &structural, &|_| Sink::Marks(&marker))?;
    drop_effect_attributes(module);
    canonical::verify(module, "weaving marks of mutants")
}

fn resolved<'e>(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &'e Edit, bool)]) -> Result<Resolved<'e>> {
    if let Some((number, ..)) = mutants.iter().find(|(_, edit, _)| !edit.is_woven()) {
        return Err(Error::internal(format!("mutant {number} has no place that a run could reach")));
    }
    resolve(module, sites, mutants.iter().map(|(_, edit, _)| *edit))
}

/// Inserts the probes of all places; `sink` returns the receiver for a function.
fn insert_probes<'t>(
    resolved: &Resolved<'_>,
    tools: &'t Tools,
    structural: &'t [bool],
    sink: &dyn Fn(usize) -> Sink<'t>,
) -> Result<()> {
    let of = |function: usize| Prober { tools, sink: sink(function), structural };
    for (place, changes) in &resolved.changes {
        of(place.function).instruction(changes)?;
    }
    let mut ends: BTreeMap<(usize, usize), (LLVMValueRef, Vec<usize>)> = BTreeMap::new();
    for ((function, block, _), edge) in &resolved.edges {
        let (_, owners) = ends.entry((*function, *block)).or_insert((edge.terminator, Vec::new()));
        owners.extend(edge.changes.iter().map(|(change, _)| change.owner));
    }
    for ((function, _), (terminator, owners)) in ends {
        let mut observations = Observations::default();
        owners.into_iter().for_each(|owner| observations.always(owner, REACHED_AND_INFECTED));
        of(function).report(terminator, observations);
    }
    Ok(())
}

/// Observations at one place: mutants with the bits to set, unconditionally or under a condition.
#[derive(Default)]
struct Observations(Vec<(usize, u32, Option<LLVMValueRef>)>);

impl Observations {
    fn always(&mut self, owner: usize, bits: u32) {
        self.0.push((owner, bits, None));
    }

    fn conditional(&mut self, condition: LLVMValueRef, owner: usize, bits: u32) {
        self.0.push((owner, bits, Some(condition)));
    }
}

/// The receiver of observations.
enum Sink<'t> {
    /// The probe buffer, through a function that sets bits.
    Bits { probe: LLVMValueRef, seen: Function },
    /// Marks, which only report infections.
    Marks(&'t Marker),
}

/// Inserts probes into one function.
struct Prober<'t> {
    tools: &'t Tools,
    sink: Sink<'t>,
    structural: &'t [bool],
}

impl Prober<'_> {
    fn instruction(&self, changes: &InstructionChanges<'_>) -> Result<()> {
        let inst = changes.inst;
        let operands = Inst(inst).operands();
        self.tools.before(inst);
        let mut observations = Observations::default();
        for (i, list) in &changes.operands {
            for change in list {
                self.compare(inst, &operands, operands[*i as usize], change, &mut observations)?;
            }
        }
        changes.instead.iter().for_each(|change| observations.always(change.owner, REACHED_AND_INFECTED));
        self.report(inst, observations);
        if changes.result.is_empty() {
            return Ok(());
        }
        // SAFETY: alive.
        let mut next = unsafe { LLVMGetNextInstruction(inst) };
        while !next.is_null() && Inst(next).opcode() == LLVMOpcode::LLVMPHI {
            // SAFETY: alive.
            next = unsafe { LLVMGetNextInstruction(next) };
        }
        if next.is_null() {
            return Err(Error::internal("an edit replaces the result of an instruction that has none"));
        }
        self.tools.before(next);
        let mut observations = Observations::default();
        for change in &changes.result {
            self.compare(inst, &operands, inst, change, &mut observations)?;
        }
        self.report(next, observations);
        Ok(())
    }

    /// Compares an edit's value with `original`, at the builder's position.
    fn compare(
        &self,
        inst: LLVMValueRef,
        operands: &[LLVMValueRef],
        original: LLVMValueRef,
        change: &Change<'_, Expr>,
        observations: &mut Observations,
    ) -> Result<()> {
        let ty = type_of(original);
        if self.structural[change.owner]
            || !(ir_tools::is_integer(ty) || ir_tools::is_float(ty) || ir_tools::is_pointer(ty))
        {
            observations.always(change.owner, REACHED_AND_INFECTED);
            return Ok(());
        }
        let at = ExprContext {
            tools: self.tools,
            inst,
            operands,
            original: Some(original),
            ty,
            current: None,
            hazards: Hazard::Recorded,
            hazard: Default::default(),
        };
        let mutated = at.replacement(change.edit)?;
        let b = self.tools.builder;
        // SAFETY: alive; both values have one type.
        let mut differs = unsafe {
            let (old, new) = (self.bits(original), self.bits(mutated));
            LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntNE, old, new, c"".as_ptr())
        };
        differs = self.tools.any(differs);
        if let Some(hazard) = at.hazard.get() {
            // SAFETY: alive; booleans.
            differs = unsafe { LLVMBuildOr(b, differs, hazard, c"".as_ptr()) };
        }
        observations.always(change.owner, REACHED);
        observations.conditional(differs, change.owner, REACHED_AND_INFECTED);
        Ok(())
    }

    /// Casts a value to integers with the same bits.
    fn bits(&self, value: LLVMValueRef) -> LLVMValueRef {
        let ty = type_of(value);
        // SAFETY: alive; the integers are as wide as the floats or pointers.
        unsafe {
            let integers = |width| ir_tools::shaped(LLVMIntTypeInContext(self.tools.context, width), ty);
            if ir_tools::is_float(ty) {
                LLVMBuildBitCast(self.tools.builder, value, integers(ir_tools::width(ty)), c"".as_ptr())
            } else if ir_tools::is_pointer(ty) {
                LLVMBuildPtrToInt(self.tools.builder, value, integers(64), c"".as_ptr())
            } else {
                value
            }
        }
    }

    /// Reports the observations in front of `anchor`.
    fn report(&self, anchor: LLVMValueRef, observations: Observations) {
        self.tools.before(anchor);
        match &self.sink {
            Sink::Bits { probe, seen } => self.set(*probe, *seen, observations),
            Sink::Marks(marker) => {
                for (owner, _, condition) in
                    observations.0.into_iter().filter(|(_, bits, _)| *bits == REACHED_AND_INFECTED)
                {
                    marker.mark(owner as u32, condition.unwrap_or_else(|| marker.truth()));
                }
            }
        }
    }

    /// Sets the bits, with one call per word.
    fn set(&self, probe: LLVMValueRef, seen: Function, observations: Observations) {
        let b = self.tools.builder;
        let mut words: BTreeMap<u32, (u32, Vec<(LLVMValueRef, u32)>)> = BTreeMap::new();
        for (owner, bits, condition) in observations.0 {
            let (always, conditions) = words.entry(word(owner)).or_default();
            match condition {
                None => *always |= bits << shift(owner),
                Some(condition) => conditions.push((condition, bits << shift(owner))),
            }
        }
        for (word, (always, conditions)) in words {
            let mut mask = self.tools.number(always);
            // SAFETY: alive; conditions are booleans that stand before the anchor.
            unsafe {
                for (condition, bits) in conditions {
                    let more =
                        LLVMBuildSelect(b, condition, self.tools.number(bits), self.tools.number(0), c"".as_ptr());
                    mask = LLVMBuildOr(b, mask, more, c"".as_ptr());
                }
                let mut arguments = [probe, self.tools.number(word), mask];
                let ty = LLVMGlobalGetValueType(seen.0);
                let call = LLVMBuildCall2(b, ty, seen.0, arguments.as_mut_ptr(), 3, c"".as_ptr());
                LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(seen.0));
            }
        }
    }
}
