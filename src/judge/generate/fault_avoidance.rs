//! Repairs first launches that were rejected: what goes wrong in one becomes a condition for the next. The divisor that
//! was 0, or the index that was out of bounds, is traced back to the input that it comes from, and solved for.

use std::time::Instant;

use kassay_base::error::Result;
use kassay_model::interface::Scalar;
use kassay_prove::symbolic::concolic::{Engine, Limits};
use kassay_results::result::generate::By;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout;

use super::assign::Number;
use super::genotype::{Edit, Genotype};
use super::launch_builder::LaunchBuilder;
use super::model::KernelModel;
use super::search::Search;
use super::solving::{self, MAX_FLIPS, MAX_STEPS, PATH_RLIMIT};

/// Elements of a buffer that get an edit each; if more have changed, one edit sets all of them.
const MAX_SINGLE_EDITS: usize = 24;

/// Repairs rejected launches until they do nothing undefined, and runs them; those that complete are kept. Returns
/// their genotypes, as parents for mutations.
///
/// # Errors
/// As [`super::search::CoverageRunner::run`] and the construction of the first launches.
pub(super) fn avoid_fault(search: &mut Search<'_>, rejected: &[Genotype], end: Instant) -> Result<Vec<Genotype>> {
    let problem = search.problem;
    let (model, constraints) = (problem.launch_builder.model, problem.constraints);
    let mut engine =
        Engine::new(&model.program, &model.interface, &solving::bounds(constraints), solving::ranges(constraints));
    let limits = Limits { rlimit: PATH_RLIMIT, end: Some(end), steps: MAX_STEPS, attempts: MAX_FLIPS };
    let mut made = Vec::new();
    for genotype in rejected {
        if search.stop_reason().is_some() || Instant::now() >= end {
            break;
        }
        let Some((launch, preconditions)) = search.decode(genotype)? else { continue };
        let Some(repaired) = engine.avoid_fault(&launch, &limits) else { continue };
        let child = updated_genotype(genotype, &launch, &repaired, model);
        let found = match search.attempt(child.clone(), None, By::Smt)? {
            Some(found) => Some(found),
            None => search.attempt_launch(repaired, preconditions, By::Smt)?,
        };
        if let Some(found) = found {
            search.consider(found, "solved".to_owned())?;
            made.push(child);
        }
    }
    Ok(made)
}

/// Returns the genotype of `before`, with the numbers that differ in `after`.
fn updated_genotype(genotype: &Genotype, before: &Launch, after: &Launch, model: &KernelModel) -> Genotype {
    let mut genotype = genotype.clone();
    for (position, (old, new)) in before.args.iter().zip(&after.args).enumerate() {
        match (old, new) {
            (ArgValue::Value(old), ArgValue::Value(new)) if old != new => {
                for scalar in model.scalars.iter().filter(|s| s.arg as usize == position) {
                    if let Some(bytes) = new.get(scalar.offset as usize..) {
                        genotype.scalars.insert((scalar.arg, scalar.offset), number(scalar.scalar, bytes));
                    }
                }
            }
            (ArgValue::Buffer(old), ArgValue::Buffer(new)) if old != new => {
                let ty = LaunchBuilder::element(&model.interface.args[position]);
                let size = ty.size().max(1) as usize;
                for (leaf, at) in scalar_layout::leaves(&ty).into_iter().enumerate() {
                    let (from, to) = (at.offset as usize, (at.offset + at.scalar.size()) as usize);
                    let elements = old.chunks_exact(size).zip(new.chunks_exact(size));
                    let changed: Vec<(u64, Number)> = (0u64..)
                        .zip(elements)
                        .filter(|(_, (old, new))| old[from..to] != new[from..to])
                        .map(|(index, (_, new))| (index, number(at.scalar, &new[from..to])))
                        .collect();
                    match &changed[..] {
                        [(_, number), ..] if changed.len() > MAX_SINGLE_EDITS => {
                            genotype.add(Edit::Every { position, leaf, number: *number });
                        }
                        few => few.iter().for_each(|(index, number)| {
                            genotype.add(Edit::Element { position, index: *index, leaf, number: *number });
                        }),
                    }
                }
            }
            _ => {}
        }
    }
    genotype
}

fn number(scalar: Scalar, bytes: &[u8]) -> Number {
    match scalar_layout::decode(scalar, bytes) {
        scalar_layout::Number::Integer(n) => Number::Integer(n),
        scalar_layout::Number::Float(x) => Number::Float(x),
    }
}
