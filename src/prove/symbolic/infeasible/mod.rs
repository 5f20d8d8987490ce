//! Proofs that no execution reaches a point of the kernel.
//!
//! The kernel's acyclic graph, obtained by cutting every loop at its header, is encoded as one formula: one bit for
//! each block (whether it lies on the path) and terms for each value. The result of a load, the result of an unknown
//! call, and the value of a header's `phi` in some iteration are fresh symbols. A symbol may take any value, so it
//! covers every argument, every buffer content, every iteration and every effect of other work-items.
//!
//! Why the encoding misses no execution:
//!
//! - Take an execution that reaches block B, and give each symbol the value that its instruction had when it was last
//!   executed before B was reached.
//! - Walk back from B along the execution. At a header that was entered by a back edge, jump to the point where the
//!   loop was last entered from outside. The result is a path without back edges.
//! - Every condition on this path was evaluated on the latest values of its operands. The blocks that were skipped
//!   belong to loops whose headers lie on the path. Whatever the path passes before such a header is defined outside
//!   that loop, because a header dominates its loop; so the skipped iterations did not change it.
//! - Conditions decide which edge is taken, so under these values the formula describes exactly this path, and the bit
//!   of B is 1.
//! - Hence, if the bit cannot be 1, no such execution exists.
//!
//! Header symbols are constrained by invariants that are checked on each entry edge and each back edge
//! (`invariants`); loops that are left after a constant number of iterations are encoded iteration by
//! iteration (`encode`).

mod background;
mod encode;
mod float_abstraction;
mod invariants;
mod launch;
mod loop_nest;
mod memory;
mod unsat_core;
mod values;

use std::time::Instant;

use kassay_ir::kernel::source::Sources;
use kassay_model::interface::Interface;

pub use self::background::Assumption;
pub use self::launch::LaunchLimits;
pub use self::unsat_core::ProofOutcome;
use crate::program::Program;
use crate::solve::query::{Answer, Limits};

/// Decides each of `marks` (goals of `__kassay_mark`); the results are in the order of `marks`. `sources` supplies the
/// text of conditions for the reasons; where a source is not available, reasons only give lines.
pub fn prove(
    program: &Program,
    interface: &Interface,
    marks: &[u32],
    assumptions: &[Assumption],
    sources: &Sources,
    limits: &Limits,
) -> Vec<ProofOutcome> {
    prove_with(program, interface, marks, (assumptions, None), sources, limits)
}

/// Same as [`prove`], within launch limits that OpenCL does not impose: a proof that depends on a limit lists it among
/// its preconditions.
pub fn prove_within(
    program: &Program,
    interface: &Interface,
    marks: &[u32],
    launch_limits: LaunchLimits,
    sources: &Sources,
    limits: &Limits,
) -> Vec<ProofOutcome> {
    prove_with(program, interface, marks, (&[], Some(launch_limits)), sources, limits)
}

fn prove_with(
    program: &Program,
    interface: &Interface,
    marks: &[u32],
    (assumptions, launch_limits): (&[Assumption], Option<LaunchLimits>),
    sources: &Sources,
    limits: &Limits,
) -> Vec<ProofOutcome> {
    let unknown = |reason: &str| ProofOutcome::Unknown { reason: reason.to_owned(), bound: None };
    let Some(loop_nest) = loop_nest::LoopNest::of(program) else {
        return marks.iter().map(|_| unknown("its control flow is no nest of loops")).collect();
    };
    let Some(mut encoded) = encode::encode(program, &loop_nest, limits) else {
        let is_late = limits.end.is_some_and(|end| Instant::now() >= end);
        let why = if is_late { "no time was left" } else { "the kernel is too large" };
        return marks.iter().map(|_| unknown(why)).collect();
    };
    let background = background::background(&mut encoded, program, interface, assumptions, launch_limits);
    let mut abstraction = float_abstraction::FloatAbstraction::default();
    unsat_core::abstract_marks(&mut encoded, &mut abstraction);
    let mut solver = unsat_core::MarkSolver::new(&encoded.terms, &abstraction);
    let first = |m: &u32| unsat_core::prove_mark(&encoded, *m, &background, &[], &mut solver, sources, limits);
    let mut outcomes: Vec<Result<ProofOutcome, Answer>> = marks.iter().map(first).collect();
    if outcomes.iter().any(Result::is_err) && !encoded.loops.is_empty() {
        let kept = invariants::find(&mut encoded, &background, &mut abstraction, limits);
        for invariant in &kept {
            abstraction.abstracted(&mut encoded.terms, invariant.holds);
        }
        let mut solver = unsat_core::MarkSolver::new(&encoded.terms, &abstraction);
        for (mark, outcome) in marks.iter().zip(&mut outcomes).filter(|(_, outcome)| outcome.is_err()) {
            *outcome = unsat_core::prove_mark(&encoded, *mark, &background, &kept, &mut solver, sources, limits);
        }
    }
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|answer| unproved(&answer, &encoded, limits))).collect()
}

fn unproved(answer: &Answer, encoded: &encode::Encoded<'_>, limits: &Limits) -> ProofOutcome {
    let bound = (limits.rlimit > 0).then(|| format!("{} units of Z3's work", limits.rlimit));
    match answer {
        Answer::Unknown(why) => ProofOutcome::Unknown { reason: format!("Z3 gave up ({why})"), bound },
        _ if !encoded.loops.is_empty() => ProofOutcome::Unknown {
            reason: "no contradiction was found; values of loops are bounded by what holds in all their iterations"
                .to_owned(),
            bound: None,
        },
        _ => ProofOutcome::Unknown {
            reason: "its conditions do not contradict each other; what buffers hold and calls return may be anything"
                .to_owned(),
            bound: None,
        },
    }
}
