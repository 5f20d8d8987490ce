//! Which mutants a run reaches, and which of them would change a value at their place.
//!
//! Weak mutation (Howden: Weak mutation testing and completeness of test sets, IEEE TSE 8(4), 1982): a mutant whose place is
//! not executed, or whose values never differ from the original's, cannot be killed by that run. The original runs; the
//! mutants' values are computed beside it and compared.

use std::collections::BTreeMap;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use super::edit::{Edit, Expr};
use super::expr::{At, Hazard};
use super::ir_tools::{self, Tools, type_of};
use super::resolve::{Changes, Of, Resolved, resolve};
use super::thread_arguments;
use crate::cfg::sites::Sites;
use crate::error::{Error, Result};
use crate::instrument::coverage::drop_effect_attributes;
use crate::instrument::layout::HEADER_WORDS;
use crate::instrument::marks::Marker;
use crate::instrument::runtime;
use crate::kernel::canonical;
use crate::kernel::ir::{Function, Inst};

/// Mutants whose bits share a word.
const PER_WORD: usize = 16;

/// What a run showed of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Some work-item executed its place.
    pub reached: bool,
    /// At least once its value differed from the original's, or was undefined. Of mutants that change no value: as `reached`.
    pub infected: bool,
}

/// The probe buffer of a module woven for infection: behind [`HEADER_WORDS`], two bits for each mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfectionLayout {
    mutants: usize,
}

impl InfectionLayout {
    /// Words of the whole buffer.
    pub fn words(&self) -> u64 {
        HEADER_WORDS + self.mutants.div_ceil(PER_WORD) as u64
    }

    /// Reads the buffer after a run: by mutant, in the order of weaving. Words that are missing count as zero.
    pub fn read(&self, probe: &[u32]) -> Vec<Seen> {
        let bits = |i: usize| probe.get(word(i) as usize).copied().unwrap_or(0) >> shift(i);
        (0..self.mutants).map(|i| Seen { reached: bits(i) & 1 != 0, infected: bits(i) & 2 != 0 }).collect()
    }
}

fn word(mutant: usize) -> u32 {
    (HEADER_WORDS as usize + mutant / PER_WORD) as u32
}

fn shift(mutant: usize) -> u32 {
    (mutant % PER_WORD * 2) as u32
}

const REACHED: u32 = 1;
const BOTH: u32 = 3;

/// Weaves probes for `mutants` into the canonical form that `sites` were read from: each with its number (for messages), its
/// edit, and whether it counts as infected wherever it is reached (changes of structure do in any case). The kernel
/// gets one more, last argument: `global uint *`, the probe buffer.
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
    watch(&resolved, &tools, &structural, &sink)?;
    let values = thread_arguments::probe(&tools, &mut resolved.functions, &needs);
    for (stand_in, value) in probes.into_iter().zip(values) {
        thread_arguments::settle_one(stand_in, value);
    }
    drop_effect_attributes(module);
    canonical::verify(module, "weaving infection probes")?;
    Ok(InfectionLayout { mutants: mutants.len() })
}

/// Weaves a mark ([`crate::instrument::marks`]) for each of `mutants`, as [`weave`] takes them, instead of probes: goals are
/// numbered as they stand in the list, and one is covered where the mutant is infected. The kernel's arguments stay.
///
/// # Errors
/// As of [`weave`].
pub fn mark(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &Edit, bool)]) -> Result<()> {
    let resolved = resolved(module, sites, mutants)?;
    let marker = Marker::new(module);
    let structural: Vec<bool> = mutants.iter().map(|(.., structural)| *structural).collect();
    watch(&resolved, &marker.tools, &structural, &|_| Sink::Marks(&marker))?;
    drop_effect_attributes(module);
    canonical::verify(module, "weaving marks of mutants")
}

fn resolved<'e>(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &'e Edit, bool)]) -> Result<Resolved<'e>> {
    if let Some((number, ..)) = mutants.iter().find(|(_, edit, _)| !edit.is_woven()) {
        return Err(Error::internal(format!("mutant {number} has no place that a run could reach")));
    }
    resolve(module, sites, mutants.iter().map(|(_, edit, _)| *edit))
}

/// Has every place of the mutants told to what `sink` gives for its function.
fn watch<'t>(
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
        owners.extend(edge.changes.iter().map(|(of, _)| of.owner));
    }
    for ((function, _), (terminator, owners)) in ends {
        let mut shown = Shown::default();
        owners.into_iter().for_each(|owner| shown.always(owner, BOTH));
        of(function).tell(terminator, shown);
    }
    Ok(())
}

/// What shows at one place: mutants with bits that hold in any case, or under a condition.
#[derive(Default)]
struct Shown(Vec<(usize, u32, Option<LLVMValueRef>)>);

impl Shown {
    fn always(&mut self, owner: usize, bits: u32) {
        self.0.push((owner, bits, None));
    }

    fn when(&mut self, condition: LLVMValueRef, owner: usize, bits: u32) {
        self.0.push((owner, bits, Some(condition)));
    }
}

/// Who is told.
enum Sink<'t> {
    /// The probe buffer, by a function that sets bits.
    Bits { probe: LLVMValueRef, seen: Function },
    /// Marks, of infection alone.
    Marks(&'t Marker),
}

/// What is needed to put probes into one function.
struct Prober<'t> {
    tools: &'t Tools,
    sink: Sink<'t>,
    structural: &'t [bool],
}

impl Prober<'_> {
    fn instruction(&self, changes: &Changes<'_>) -> Result<()> {
        let inst = changes.inst;
        let operands = Inst(inst).operands();
        self.tools.before(inst);
        let mut shown = Shown::default();
        for (i, list) in &changes.operands {
            for of in list {
                self.compare(inst, &operands, operands[*i as usize], of, &mut shown)?;
            }
        }
        changes.instead.iter().for_each(|of| shown.always(of.owner, BOTH));
        self.tell(inst, shown);
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
        let mut shown = Shown::default();
        for of in &changes.result {
            self.compare(inst, &operands, inst, of, &mut shown)?;
        }
        self.tell(next, shown);
        Ok(())
    }

    /// Whether an edit's value differs from `original`, at the builder's place.
    fn compare(
        &self,
        inst: LLVMValueRef,
        operands: &[LLVMValueRef],
        original: LLVMValueRef,
        of: &Of<'_, Expr>,
        shown: &mut Shown,
    ) -> Result<()> {
        let ty = type_of(original);
        if self.structural[of.owner]
            || !(ir_tools::is_integer(ty) || ir_tools::is_float(ty) || ir_tools::is_pointer(ty))
        {
            shown.always(of.owner, BOTH);
            return Ok(());
        }
        let at = At {
            tools: self.tools,
            inst,
            operands,
            original: Some(original),
            ty,
            current: None,
            hazards: Hazard::Noted,
            hazard: Default::default(),
        };
        let mutated = at.replacement(of.what)?;
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
        shown.always(of.owner, REACHED);
        shown.when(differs, of.owner, BOTH);
        Ok(())
    }

    /// A value as integers of its bits.
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

    /// Tells in front of `anchor` what shows there.
    fn tell(&self, anchor: LLVMValueRef, shown: Shown) {
        self.tools.before(anchor);
        match &self.sink {
            Sink::Bits { probe, seen } => self.set(*probe, *seen, shown),
            Sink::Marks(marker) => {
                for (owner, _, condition) in shown.0.into_iter().filter(|(_, bits, _)| *bits == BOTH) {
                    marker.mark(owner as u32, condition.unwrap_or_else(|| marker.truth()));
                }
            }
        }
    }

    /// Sets the bits: one call for each word.
    fn set(&self, probe: LLVMValueRef, seen: Function, shown: Shown) {
        let b = self.tools.builder;
        let mut words: BTreeMap<u32, (u32, Vec<(LLVMValueRef, u32)>)> = BTreeMap::new();
        for (owner, bits, condition) in shown.0 {
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
