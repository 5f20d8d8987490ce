//! Seeds: the launches of a suite with which a search begins. New inputs are made of them, and keep to what they have in
//! common.

use super::contradictions;
use super::couplings::{self, Couplings};
use super::fill::{Fill, mix};
use super::genotype::Genotype;
use super::geometry::Geometry;
use super::interface_file::UserConstraints;
use super::launch_builder::{ImageSides, LaunchBuilder};
use super::model::KernelModel;
use super::search::Search;
use crate::coverage::summary::TestTally;
use crate::error::Result;
use crate::suite::launch::{ArgValue, Launch};
use crate::suite::scalar_layout;

use super::assign::{self, Number};

/// What is assumed in making a launch of a seed.
pub(super) const PRECONDITION: &str = "sizes and values belong together as in the launches of the seeds";

/// A launch to begin with.
#[derive(Debug, Clone, PartialEq)]
pub struct Seed {
    /// Name of its test.
    pub name: String,
    /// With its work-group size decided.
    pub launch: Launch,
}

/// The launches of a suite, and what they have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Seeds {
    /// Path of the suite.
    pub suite: String,
    pub all: Vec<Seed>,
    pub couplings: Couplings,
}

impl Seeds {
    /// Learns from the launches of a suite's tests. `usual_items`: work-items that launches made of them may have, unless
    /// one of them has more. `max_group`: work-items that a group may have whose size the suite leaves open.
    pub fn learn(
        suite: String,
        tests: impl Iterator<Item = (String, Launch)>,
        model: &KernelModel,
        usual_items: u64,
        max_group: u64,
    ) -> Seeds {
        let mut all: Vec<Seed> = tests.map(|(name, launch)| Seed { name, launch }).collect();
        // Of work-group sizes that the driver chooses nothing can be learnt.
        let is_open = all.iter().any(|seed| seed.launch.range.local.is_none());
        let mut shown: Vec<Launch> = all.iter().map(|seed| seed.launch.clone()).collect();
        if is_open {
            shown.iter_mut().for_each(|launch| launch.range.local = None);
        }
        let shown: Vec<&Launch> = shown.iter().collect();
        let couplings = couplings::learn(model, &shown, usual_items);
        for seed in &mut all {
            seed.launch.range.decide_local(model.interface.required_local, max_group);
        }
        Seeds { suite, all, couplings }
    }

    /// Returns the genotype of a seed; `None` for launches that cannot be made of genotypes because memory is shared,
    /// only in part an argument's, or accessed beyond its ends.
    fn genotype(&self, at: usize, model: &KernelModel) -> Option<Genotype> {
        let launch = &self.all.get(at)?.launch;
        if launch.sharing().next().is_some() || !launch.has_whole_buffers() || launch.allows_faults {
            return None;
        }
        let number = |arg: u32, offset: u64, scalar| match launch.args.get(arg as usize) {
            Some(ArgValue::Value(bytes)) => bytes.get(offset as usize..).map(|at| decoded(scalar, at)),
            _ => None,
        };
        let scalars = model.scalars.iter();
        let scalars = scalars.filter_map(|s| Some(((s.arg, s.offset), number(s.arg, s.offset, s.scalar)?))).collect();
        let range = launch.range.clone();
        let local = range.decided().local;
        Some(Genotype {
            geometry: Geometry { range, local, name: "of a seed".into() },
            scalars,
            fill: Fill::Random,
            seed: mix(0, at as u64),
            images: ImageSides::Launch,
            base: Some(at),
            edits: Vec::new(),
        })
    }

    /// Returns the launch of a seed with the sizes and numbers of a genotype, in natural order. `None` if there is no such
    /// seed.
    pub(super) fn based_on(&self, at: usize, genotype: &Genotype, model: &KernelModel) -> Option<Launch> {
        let seed = &self.all.get(at)?.launch;
        let mut range = genotype.geometry.range.clone();
        range.local = Some(genotype.geometry.local);
        let mut launch = Launch::new(range, seed.args.clone());
        for scalar in &model.scalars {
            let Some(ArgValue::Value(bytes)) = launch.args.get_mut(scalar.arg as usize) else { continue };
            let Some(number) = genotype.scalars.get(&(scalar.arg, scalar.offset)) else { continue };
            let Some(at) = bytes.get_mut(scalar.offset as usize..) else { continue };
            // Bits that a number does not show, such as those of NaN, stay.
            if decoded(scalar.scalar, at) != *number {
                let mut out = Vec::with_capacity(8);
                assign::put(scalar.scalar, *number, &mut out);
                at.iter_mut().zip(&out).for_each(|(to, from)| *to = *from);
            }
        }
        Some(launch)
    }
}

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
    let mut run = SeedRun { covered: vec![false; search.problem.outcomes.len()], ..SeedRun::default() };
    for (at, seed) in seeds.all.iter().enumerate() {
        let genotype = seeds.genotype(at, model);
        run.contradictions.extend(contradictions::of_model(launch_builder, seed, genotype.as_ref()));
        let unwanted = contradictions::of_file(constraints, model, &seed.name, &seed.launch);
        if !unwanted.is_empty() {
            run.left_out.push(format!("\"{}\" is not as the interface file says", seed.name));
            run.contradictions.extend(unwanted);
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
                search.consider(found, seed.name.clone())?;
            }
            None => run.left_out.push(format!("\"{}\" faults on the simulator, or does not end in time", seed.name)),
        }
    }
    Ok(run)
}

/// Returns the number at the start of `bytes`.
pub(super) fn decoded(scalar: crate::kernel::interface::Scalar, bytes: &[u8]) -> Number {
    match scalar_layout::decode(scalar, bytes) {
        scalar_layout::Number::Integer(n) => Number::Integer(n),
        scalar_layout::Number::Float(x) => Number::Float(x),
    }
}
