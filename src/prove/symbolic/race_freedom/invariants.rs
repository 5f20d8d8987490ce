//! What holds whenever a loop's header is reached: guessed, and kept as long as one work-item's execution allows no
//! other (HOUDINI).

use std::collections::BTreeMap;

use super::accesses::Unsupported;
use super::encode::{Context, Encoder, HeaderValues, Value};
use super::invariant::Invariant;
use super::kernel::Kernel;
use super::scope::{Item, Scope, Shape};
use super::segments::Cut;
use super::solver::{KnowingSolver, Outcome, Solving};
use crate::program::{Definition, Op, ValueId};
use crate::solve::houdini::keep_confirmed;
use crate::solve::integers::{Fact, Integers, Polynomial};
use kassay_ir::llvm::Opcode;

/// Z3's work for one question.
const RLIMIT: u32 = 100_000;
/// Most guesses.
const MAX_GUESSES: usize = 60;

/// The invariants of each loop.
pub fn find(kernel: &Kernel<'_>, shape: Shape, solving: &Solving) -> Result<Vec<Vec<Invariant>>, Unsupported> {
    let loops = kernel.graph.loops.len();
    let none: Vec<Vec<Invariant>> = vec![Vec::new(); loops];
    if loops == 0 {
        return Ok(none);
    }
    let mut integers = Integers::default();
    let context =
        Context::new(kernel, shape, Scope::InterGroup, (None, Cut::Never), &none, solving.end, &mut integers)?;
    let mut encoder = Encoder::encode(&context, Item::First, &mut integers)?;
    let headers = std::mem::take(&mut encoder.headers);
    let mut guesses: Vec<Guess> = Vec::new();
    for header in &headers {
        let next = encoder.next_values(header.l, header.copy);
        let reach = encoder.reach(header.copy);
        for invariant in guess(kernel, header) {
            if guesses.len() == MAX_GUESSES {
                break;
            }
            let entered: BTreeMap<ValueId, Value> =
                header.phis.iter().map(|(phi, _, entered)| (*phi, entered.clone())).collect();
            let here = header.phis.iter().map(|(phi, value, _)| (*phi, value.clone())).collect();
            let Some(holds) = encoder.holds(invariant, header, &here) else { continue };
            let Some(at_entry) = encoder.holds(invariant, header, &entered) else { continue };
            let kept: Option<Vec<(Fact, Fact)>> = next
                .iter()
                .map(|(taken, values)| {
                    let values = values.iter().map(|(phi, value)| (*phi, value.clone())).collect();
                    Some((taken.clone(), encoder.holds(invariant, header, &values)?))
                })
                .collect();
            let Some(kept) = kept else { continue };
            let position = kernel.graph.position[header.copy.0];
            let reach = reach.clone();
            guesses.push(Guess { l: header.l, position, invariant, reach, holds, at_entry, kept });
        }
    }
    let facts = integers.facts();
    let mut solver = solving.solver(&facts, RLIMIT);
    keep_confirmed(&mut guesses, |guesses| {
        guesses.iter().position(|guess| !guess.is_confirmed(guesses, kernel, &mut solver)).into_iter().collect()
    });
    let mut found = none.clone();
    for guess in guesses {
        found[guess.l].push(guess.invariant);
    }
    Ok(found)
}

/// A guess with what has to be asked about it.
struct Guess {
    l: usize,
    /// Of the header.
    position: usize,
    invariant: Invariant,
    reach: Fact,
    holds: Fact,
    at_entry: Fact,
    /// By back edge: when it is taken, and whether the invariant holds then.
    kept: Vec<(Fact, Fact)>,
}

impl Guess {
    /// Whether it holds where the loop is entered, if the guesses about earlier loops hold, and is kept by each
    /// iteration, if those about this loop and the ones in it hold, too.
    fn is_confirmed(&self, all: &[Guess], kernel: &Kernel<'_>, solver: &mut KnowingSolver) -> bool {
        let known = |is_meant: &dyn Fn(&Guess) -> bool| -> Vec<Fact> {
            all.iter().filter(|g| is_meant(g)).map(|g| g.reach.implies(&g.holds)).collect()
        };
        let mut enters = known(&|g| g.position < self.position);
        enters.extend([self.reach.clone(), self.at_entry.negated()]);
        let body = &kernel.graph.loops[self.l].body;
        let inside = known(&|g| g.position < self.position || body.contains(&kernel.graph.order[g.position]));
        let mut is_impossible = |facts: &[Fact]| solver.check(facts) == Outcome::Impossible;
        is_impossible(&enters)
            && self.kept.iter().all(|(taken, holds)| {
                let mut question = inside.clone();
                question.extend([taken.clone(), holds.negated()]);
                is_impossible(&question)
            })
    }
}

/// What may hold of the `phi`s of a header.
fn guess(kernel: &Kernel<'_>, header: &HeaderValues) -> Vec<Invariant> {
    let program = kernel.program;
    let body = &kernel.graph.loops[header.l].body;
    let mut guesses = Vec::new();
    for (phi, value, entered) in &header.phis {
        if value.number().is_none() || entered.number().is_none() {
            continue;
        }
        guesses.extend([
            Invariant::AtLeast(*phi, 0),
            Invariant::AtLeast(*phi, 1),
            Invariant::FromEntry(*phi),
            Invariant::ToEntry(*phi),
        ]);
        let is_it = |value: ValueId| {
            let cast = program
                .instruction(value)
                .filter(|i| matches!(i.op, Op::Cast(Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc)));
            value == *phi || cast.is_some_and(|i| i.operands[0] == *phi)
        };
        for node in body {
            for (instruction, _) in kernel.instructions(*node).filter(|(i, _)| matches!(i.op, Op::Compare(_))) {
                let (a, b) = (instruction.operands[0], instruction.operands[1]);
                for (one, other) in [(a, b), (b, a)] {
                    let outside = match program.values[other as usize] {
                        Definition::Inst { block, .. } => !body.contains(&kernel.graph.last[block.0]),
                        Definition::Constant(_) => false,
                        _ => true,
                    };
                    if is_it(one) && outside {
                        guesses.push(Invariant::Bounded(*phi, other));
                    }
                }
            }
        }
    }
    guesses
}

impl Encoder<'_, '_, '_> {
    /// Whether an invariant holds of these values of the header's `phi`s.
    fn holds(
        &mut self,
        invariant: Invariant,
        header: &HeaderValues,
        values: &BTreeMap<ValueId, Value>,
    ) -> Option<Fact> {
        let entered = |phi: ValueId| {
            let found = header.phis.iter().find(|(p, ..)| *p == phi)?;
            found.2.number().cloned()
        };
        let value = |phi: ValueId| values.get(&phi).and_then(Value::number).cloned();
        Some(match invariant {
            Invariant::AtLeast(phi, least) => {
                self.integers.at_most(&Polynomial::constant(i128::from(least)), &value(phi)?)
            }
            Invariant::FromEntry(phi) => self.integers.at_most(&entered(phi)?, &value(phi)?),
            Invariant::ToEntry(phi) => self.integers.at_most(&value(phi)?, &entered(phi)?),
            Invariant::Bounded(phi, by) => {
                let by = self.value(by, header.copy).number().cloned()?;
                let within = self.integers.at_most(&value(phi)?, &by);
                within.or(&self.integers.equal(&value(phi)?, &entered(phi)?))
            }
        })
    }

    /// States the invariants of a loop in a copy of its header.
    pub(super) fn assume_invariants(&mut self, header: &HeaderValues) {
        let values: BTreeMap<ValueId, Value> = header.phis.iter().map(|(phi, v, _)| (*phi, v.clone())).collect();
        let reach = self.reach(header.copy);
        let invariants = self.context.invariants(header.l).to_vec();
        for invariant in invariants {
            if let Some(holds) = self.holds(invariant, header, &values) {
                self.integers.assert(&reach.implies(&holds));
            }
        }
    }
}
