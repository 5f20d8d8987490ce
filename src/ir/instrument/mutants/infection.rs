//! Determines which mutants a run reaches, and which of them would change a value at their place.
//!
//! Weak mutation (Howden: Weak mutation testing and completeness of test sets, IEEE TSE 8(4), 1982): a mutant whose
//! place is not executed, or whose values never differ from the original's, cannot be killed by that run. The original
//! runs; the mutants' values are computed in addition and compared.

use std::collections::BTreeMap;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use super::edit::{Edit, Expr};
use super::emitter::{Emitter, width};
use super::expr::{ExprContext, Hazard};
use super::resolve::{Change, InstructionChanges, Resolved, resolve};
use super::thread_arguments;
use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::sites::Sites;
use crate::instrument::layout::HEADER_WORDS;
use crate::instrument::marks::mark_function;
use crate::instrument::runtime;
use crate::kernel::canonical;
use crate::llvm::assumptions::drop_woven_effects;
use crate::llvm::{Function, Inst, IntPredicate, Opcode, Value, View};

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
    /// The layout of a module with this many mutants.
    pub fn of(mutants: usize) -> InfectionLayout {
        InfectionLayout { mutants }
    }

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

/// The device runtime's function that sets bits of a word.
const SEEN: &str = "__kassay_seen";

const REACHED: u32 = 1;
const REACHED_AND_INFECTED: u32 = 3;

/// Weaves probes for `mutants` into the canonical form that `sites` were read from. A mutant is given by its number
/// (for messages), its edit, and whether it counts as infected wherever it is reached (structural changes do in any
/// case). The kernel gets an additional last argument, the probe buffer (`global uint *`).
///
/// # Errors
/// `Internal` if an edit does not fit the module, or the woven module does not verify.
pub fn weave(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &Edit, bool)]) -> Result<InfectionLayout> {
    let view = View::of(module);
    let mut resolved = resolved(view, sites, mutants)?;
    runtime::link_infection(module)?;
    let seen = view.function(SEEN).ok_or_else(|| Error::internal(format!("the device runtime lacks `{SEEN}`")))?;
    let own =
        |f: FunctionIndex| resolved.changes.keys().any(|p| p.function == f) || resolved.edges.keys().any(|e| e.0 == f);
    let needs = thread_arguments::needs(&resolved.functions, sites, &own)?;
    let emitter = Emitter::new(view);
    let probes: Vec<Value<'_>> =
        resolved.functions.iter().map(|f| thread_arguments::stand_in_probe(&emitter, *f)).collect();
    let structural: Vec<bool> = mutants.iter().map(|(.., structural)| *structural).collect();
    let sink = |function: FunctionIndex| Sink::Bits { probe: probes[function], seen };
    insert_probes(&resolved, &emitter, &structural, &sink)?;
    let values = thread_arguments::probe(&emitter, &mut resolved.functions, &needs);
    for (stand_in, value) in probes.into_iter().zip(values) {
        thread_arguments::settle_one(stand_in, value);
    }
    drop_woven_effects(View::of(module));
    canonical::verify(module, "weaving infection probes")?;
    Ok(InfectionLayout { mutants: mutants.len() })
}

/// Weaves a mark ([`crate::instrument::marks`]) instead of probes for each of `mutants`, which are given as for
/// [`weave`]. Goals are numbered by index in `mutants`; a goal is covered where its mutant is infected. The kernel's
/// arguments do not change.
///
/// # Errors
/// As [`weave`].
pub fn mark(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &Edit, bool)]) -> Result<()> {
    let view = View::of(module);
    let resolved = resolved(view, sites, mutants)?;
    let marker = mark_function(view);
    let structural: Vec<bool> = mutants.iter().map(|(.., structural)| *structural).collect();
    insert_probes(&resolved, &Emitter::new(view), &structural, &|_| Sink::Marks(marker))?;
    drop_woven_effects(View::of(module));
    canonical::verify(module, "weaving marks of mutants")
}

fn resolved<'e, 'm>(view: View<'m>, sites: &Sites, mutants: &[(u32, &'e Edit, bool)]) -> Result<Resolved<'e, 'm>> {
    if let Some((number, ..)) = mutants.iter().find(|(_, edit, _)| !edit.is_woven()) {
        return Err(Error::internal(format!("mutant {number} has no place that a run could reach")));
    }
    resolve(view, sites, mutants.iter().map(|(_, edit, _)| *edit))
}

/// Inserts the probes of all places; `sink` returns the receiver for a function.
fn insert_probes<'t, 'm>(
    resolved: &Resolved<'_, 'm>,
    emitter: &'t Emitter<'m>,
    structural: &'t [bool],
    sink: &dyn Fn(FunctionIndex) -> Sink<'m>,
) -> Result<()> {
    let of = |function: FunctionIndex| Prober { emitter, sink: sink(function), structural };
    for (place, changes) in &resolved.changes {
        of(place.function).instruction(changes)?;
    }
    let mut ends: BTreeMap<(FunctionIndex, BlockIndex), (Inst<'m>, Vec<usize>)> = BTreeMap::new();
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
struct Observations<'m>(Vec<(usize, u32, Option<Value<'m>>)>);

impl<'m> Observations<'m> {
    fn always(&mut self, owner: usize, bits: u32) {
        self.0.push((owner, bits, None));
    }

    fn conditional(&mut self, condition: Value<'m>, owner: usize, bits: u32) {
        self.0.push((owner, bits, Some(condition)));
    }
}

/// The receiver of observations.
enum Sink<'m> {
    /// The probe buffer, through a function that sets bits.
    Bits { probe: Value<'m>, seen: Function<'m> },
    /// Marks, which only report infections.
    Marks(Function<'m>),
}

/// Inserts probes into one function.
struct Prober<'t, 'm> {
    emitter: &'t Emitter<'m>,
    sink: Sink<'m>,
    structural: &'t [bool],
}

impl<'m> Prober<'_, 'm> {
    fn instruction(&self, changes: &InstructionChanges<'_, 'm>) -> Result<()> {
        let inst = changes.inst;
        let operands = inst.operands();
        self.emitter.builder.before(inst);
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
        let Some(next) = inst.following().find(|i| !i.is(Opcode::LLVMPHI)) else {
            return Err(Error::internal("an edit replaces the result of an instruction that has none"));
        };
        self.emitter.builder.before(next);
        let mut observations = Observations::default();
        for change in &changes.result {
            self.compare(inst, &operands, inst.value(), change, &mut observations)?;
        }
        self.report(next, observations);
        Ok(())
    }

    /// Compares an edit's value with `original`, at the builder's position.
    fn compare(
        &self,
        inst: Inst<'m>,
        operands: &[Value<'m>],
        original: Value<'m>,
        change: &Change<'_, Expr>,
        observations: &mut Observations<'m>,
    ) -> Result<()> {
        let ty = original.ty();
        let scalar = ty.scalar();
        if self.structural[change.owner] || !(scalar.is_integer() || scalar.is_float() || scalar.is_pointer()) {
            observations.always(change.owner, REACHED_AND_INFECTED);
            return Ok(());
        }
        let at = ExprContext {
            emitter: self.emitter,
            inst,
            operands,
            original: Some(original),
            ty,
            current: None,
            hazards: Hazard::Recorded,
            hazard: Default::default(),
        };
        let mutated = at.replacement(change.edit)?;
        let b = &self.emitter.builder;
        let (old, new) = (self.bits(original), self.bits(mutated));
        let mut differs = self.emitter.builder.any(b.icmp(IntPredicate::LLVMIntNE, old, new, ""));
        if let Some(hazard) = at.hazard.get() {
            differs = b.or(differs, hazard, "");
        }
        observations.always(change.owner, REACHED);
        observations.conditional(differs, change.owner, REACHED_AND_INFECTED);
        Ok(())
    }

    /// Casts a value to integers with the same bits.
    fn bits(&self, value: Value<'m>) -> Value<'m> {
        let ty = value.ty();
        let integers = |width| self.emitter.view.int_type(width).shaped_like(ty);
        if ty.scalar().is_float() {
            self.emitter.builder.bit_cast(value, integers(width(ty)), "")
        } else if ty.scalar().is_pointer() {
            self.emitter.builder.ptr_to_int(value, integers(64), "")
        } else {
            value
        }
    }

    /// Reports the observations in front of `anchor`.
    fn report(&self, anchor: Inst<'m>, observations: Observations<'m>) {
        self.emitter.builder.before(anchor);
        match &self.sink {
            Sink::Bits { probe, seen } => self.set(*probe, *seen, observations),
            Sink::Marks(marker) => {
                for (owner, _, condition) in
                    observations.0.into_iter().filter(|(_, bits, _)| *bits == REACHED_AND_INFECTED)
                {
                    let holds = condition.unwrap_or_else(|| self.emitter.bool().int(1));
                    self.emitter.builder.call(*marker, &[self.emitter.number(owner as u32), holds], "");
                }
            }
        }
    }

    /// Sets the bits, with one call per word.
    fn set(&self, probe: Value<'m>, seen: Function<'m>, observations: Observations<'m>) {
        let b = &self.emitter.builder;
        let number = |n| self.emitter.number(n);
        let mut words: BTreeMap<u32, (u32, Vec<(Value<'m>, u32)>)> = BTreeMap::new();
        for (owner, bits, condition) in observations.0 {
            let (always, conditions) = words.entry(word(owner)).or_default();
            match condition {
                None => *always |= bits << shift(owner),
                Some(condition) => conditions.push((condition, bits << shift(owner))),
            }
        }
        for (word, (always, conditions)) in words {
            let mut mask = number(always);
            for (condition, bits) in conditions {
                let more = b.select(condition, number(bits), number(0), "");
                mask = b.or(mask, more, "");
            }
            b.call(seen, &[probe, number(word), mask], "");
        }
    }
}
