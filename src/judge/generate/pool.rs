//! Adds random inputs to those that a search kept, whether or not they cover anything new: for studies that need many
//! different tests.

use kassay_base::error::Result;
use kassay_results::result::generate::By;

use super::fill::mix;
use super::input_mutations::Mutator;
use super::launches::Request;
use super::search::Search;

/// Attempts for each input that is wanted.
const ATTEMPTS: u64 = 40;

/// How often an input is mutated in a row, at most: tests that differ in one value only say little more than one.
const DEPTH: u64 = 4;

/// Separates the random numbers of this from those of fuzzing.
const STREAM: u64 = 0x706f_6f6c;

/// Mutates inputs of the corpus, and those that this made, until the corpus has `wanted` inputs that complete without
/// faults and differ from each other, or attempts run out.
///
/// # Errors
/// As [`super::search::CoverageRunner::run`].
pub fn fill(search: &mut Search<'_>, request: &Request, wanted: u64) -> Result<()> {
    let problem = search.problem;
    let mut corpus = search.replace(Vec::new());
    let mut mutator = Mutator::new(problem.launch_builder, problem.constraints, mix(request.seed, STREAM));
    let mut attempts = wanted.saturating_mul(ATTEMPTS);
    while (corpus.len() as u64) < wanted && attempts > 0 && mutator.targets() > 0 && search.stop_reason().is_none() {
        attempts -= 1;
        let parents: Vec<usize> = (0..corpus.len()).filter(|at| corpus[*at].genotype.is_some()).collect();
        let Some(parent) = mutator.pick(&parents) else { break };
        let mut child = corpus[parent].genotype.clone();
        for _ in 0..=mutator.below(DEPTH) {
            child = child.and_then(|genotype| mutator.child(&genotype));
        }
        let Some(child) = child else { break };
        let Some(mut found) = search.attempt(child, None, By::Fuzz)? else { continue };
        let is_new = corpus.iter().all(|known| known.launch != found.launch);
        if found.faulted.is_empty() && is_new && !search.reads_unwritten(&found.launch)? {
            found.name = format!("random {}", corpus.len() + 1);
            corpus.push(found);
        }
    }
    search.replace(corpus);
    Ok(())
}
