//! Proofs that a barrier, or what it orders, is not needed.
//!
//! Without atomics and functions of sub-groups, what a kernel computes depends on the order in which its work-items run
//! only if they race. A mutant that orders less than the original has all orders of the original, and more: if it is
//! proved not to race in any launch, they all have one outcome. One that orders something else than the original has
//! the outcome of a kernel that orders neither, if neither of the two races.

use std::collections::BTreeSet;
use std::time::Instant;

use inkwell::module::Module;
use kassay_base::error::Result;
use kassay_ir::instrument::mutants::single;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::DebugLocation;
use kassay_prove::program::{Instruction, Op, Program, promoted, reader};
use kassay_prove::symbolic::race_freedom::{self, Given, HoldsFor, Property, Verdict};

use crate::coverage::build::KernelUnderTest;
use crate::mutation::catalogue::mutant::Mutant;

/// The operators whose mutants order less than the original.
const REMOVING: [&str; 3] = ["SYR", "SCR", "FR"];
/// The operator whose mutants order something else.
const REPLACING: &str = "BFR";

/// Whether a proof may be found for a mutant.
pub fn applies_to(mutant: &Mutant) -> bool {
    REMOVING.contains(&mutant.operator) || mutant.operator == REPLACING
}

/// Returns for each mutant why no launch of so many dimensions tells it from the original, if that is proved; nothing
/// for those that are not asked before `end`.
///
/// # Errors
/// `Internal` if an edit cannot be applied or a pass fails.
pub fn prove(
    under_test: &KernelUnderTest<'_>,
    mutants: &[&Mutant],
    dimensions: u32,
    end: Option<Instant>,
) -> Result<Vec<Option<String>>> {
    let mut original = None;
    let mut reasons = Vec::new();
    for mutant in mutants {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let changed = under_test.module.clone();
        single::apply(&changed, &under_test.sites, &mutant.edit)?;
        let mut free = race_free(under_test, &changed, dimensions, end)?;
        if mutant.operator == REPLACING && free.is_some() {
            let original = match &original {
                Some(known) => known,
                None => original.insert(race_free(under_test, &under_test.module, dimensions, end)?),
            };
            free = free.zip(original.clone()).map(|(one, other)| one.union(&other).cloned().collect());
        }
        reasons.push(free.map(|wrapping| reason(mutant.operator, &wrapping)));
    }
    reasons.resize(mutants.len(), None);
    Ok(reasons)
}

/// Where integers have to fit their types for it; `None`: it is not proved that all orders of a kernel have one
/// outcome.
type Assumed = Option<BTreeSet<Option<DebugLocation>>>;

fn race_free(
    under_test: &KernelUnderTest<'_>,
    canonical: &Module<'_>,
    dimensions: u32,
    end: Option<Instant>,
) -> Result<Assumed> {
    let (entry, machine) = (&under_test.entry, &under_test.machine);
    let module = match promoted::with_simple_loops(canonical, entry, machine, end) {
        Err(e) if e.is_late() => return Ok(None),
        module => module?,
    };
    let program = reader::read(&module, entry)?;
    if program.instructions().any(|(_, instruction)| may_depend_on_order(&program, instruction)) {
        return Ok(None);
    }
    // Work-items that differ only in a dimension of which the kernel reads no id do the same, and race where they
    // write.
    let dimensions = [0, 1, 2].map(|d| d < dimensions);
    let given = Given { scopes: &[HoldsFor::AllLaunches], is_met: &|_| false, one_group: false, dimensions, end };
    let mut all = BTreeSet::new();
    for proof in race_freedom::prove(&program, &under_test.interface, &given) {
        match (proof.property, proof.verdict) {
            (Property::Bounds, _) => {}
            (_, Verdict::Proved { condition: None, wrapping }) => all.extend(wrapping),
            _ => return Ok(None),
        }
    }
    Ok(Some(all))
}

/// Whether an instruction may have another result in another order, in a kernel that does not race.
fn may_depend_on_order(program: &Program, instruction: &Instruction) -> bool {
    let is_call = |base: &str| {
        matches!(
            builtins::family(base),
            Some(
                Family::Atomic
                    | Family::SubGroupQuery
                    | Family::SubGroupFunction
                    | Family::IntelSubGroupFunction
                    | Family::SpirvGroup
            )
        )
    };
    match &instruction.op {
        Op::AtomicRmw(_) | Op::CompareExchange => true,
        Op::Call(_, base) => is_call(base),
        _ => program.volatile.contains(&instruction.result),
    }
}

fn reason(operator: &str, wrapping: &BTreeSet<Option<DebugLocation>>) -> String {
    let mut assumed = vec!["buffers of different arguments do not overlap".to_owned()];
    if !wrapping.is_empty() {
        let lines: BTreeSet<u32> = wrapping.iter().flatten().map(|location| location.line).collect();
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        let many = if lines.len() == 1 { "line" } else { "lines" };
        assumed.push(match wrapping.contains(&None) {
            true => "integers fit their types".to_owned(),
            false => format!("integers fit their types in {many} {}", lines.join(", ")),
        });
    }
    let what = if operator == REPLACING { "with either" } else { "without it" };
    format!("proved: {what} no work-items race in any launch in which {}", assumed.join(" and "))
}
