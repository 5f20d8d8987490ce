//! Runs seeds at the beginning of a search.

use kassay_base::error::Result;

use super::contradictions;
use super::interface_file::UserConstraints;
use super::launch_builder::LaunchBuilder;
use super::search::Search;
use super::seeded_genotype;
use super::seeds::{Seed, Seeds};
use crate::coverage::summary::TestTally;

/// What became of the seeds.
#[derive(Debug, Clone, Default)]
pub(super) struct SeedRun {
    /// What each that was run covers.
    pub tallies: Vec<TestTally>,
    /// By outcome: whether a seed covers it.
    pub covered: Vec<bool>,
    /// Why others were not run, a sentence each.
    pub left_out: Vec<String>,
    pub contradictions: Vec<String>,
}

/// Runs the seeds, as far as the interface file allows them, and keeps those that cover something.
///
/// # Errors
/// As [`super::search::CoverageRunner::run`].
pub(super) fn run(
    search: &mut Search<'_>,
    seeds: &Seeds,
    constraints: &UserConstraints,
    launch_builder: &LaunchBuilder<'_>,
) -> Result<SeedRun> {
    let model = launch_builder.model;
    let mut contradicted = Contradicted::default();
    let mut run = SeedRun { covered: vec![false; search.problem.outcomes.len()], ..SeedRun::default() };
    for (at, seed) in seeds.all.iter().enumerate() {
        let genotype = seeded_genotype::of_seed(seeds, at, model);
        contradicted.extend(at, seed, contradictions::of_model(launch_builder, seed, genotype.as_ref()));
        let unwanted = contradictions::of_file(constraints, model, &seed.name, &seed.launch);
        if !unwanted.is_empty() {
            run.left_out.push(format!("\"{}\" is not as the interface file says", seed.name));
            contradicted.extend(at, seed, unwanted);
            continue;
        }
        if search.stop_reason().is_some() {
            run.left_out.push(format!("the time or the launches were used up before \"{}\"", seed.name));
            continue;
        }
        match search.attempt_seed(&seed.launch, genotype)? {
            Some(found) => {
                let items = found.launch.range.items();
                run.tallies.push(TestTally { name: seed.name.clone(), sites: found.tally.clone(), items });
                run.covered.iter_mut().zip(&found.covers).for_each(|(all, one)| *all |= one);
                search.keep(found, seed.name.clone())?;
            }
            None => run.left_out.push(format!("\"{}\" faults on the simulator, or does not end in time", seed.name)),
        }
    }
    run.contradictions = contradicted.sentences();
    Ok(run)
}

/// Contradictions, each with the seeds that show it.
#[derive(Default)]
struct Contradicted {
    /// A sentence about the first such seed, the same without its name, and the seeds' numbers.
    all: Vec<(String, String, Vec<usize>)>,
}

impl Contradicted {
    fn extend(&mut self, at: usize, seed: &Seed, sentences: Vec<String>) {
        for sentence in sentences {
            let nameless = sentence.replace(&format!("\"{}\"", seed.name), "");
            match self.all.iter_mut().find(|(_, known, _)| *known == nameless) {
                Some((.., seeds)) => seeds.push(at),
                None => self.all.push((sentence, nameless, vec![at])),
            }
        }
    }

    fn sentences(self) -> Vec<String> {
        let sentence = |(sentence, _, seeds): (String, String, Vec<usize>)| match seeds.len() - 1 {
            0 => sentence,
            1 => format!("{sentence} (and so in another test)"),
            n => format!("{sentence} (and so in {n} other tests)"),
        };
        self.all.into_iter().map(sentence).collect()
    }
}
