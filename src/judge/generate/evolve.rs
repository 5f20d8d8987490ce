//! Evolutionary search for launches in which work-items conflict (SIMULEE 3.1). Sizes and scalars are drawn at random,
//! each solution has one child by small steps and one by large steps, and those survive whose work-items share the
//! most addresses.

use std::time::Instant;

use kassay_base::error::Result;
use kassay_model::interface::Scalar;
use kassay_run::exec::simulator::shadow::Footprint;
use kassay_suite::launch::Launch;
use kassay_suite::scalar_layout;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::assign::{self, Number, Scalars, Style};
use super::fill::Fill;
use super::geometry::{self, Geometry};
use super::launch_builder::{BuildLimits, ImageSides, LaunchBuilder, LaunchPlan};
use super::launches::Request;
use super::model::{KernelModel, Role};
use super::planned_launch::GeneratedLaunch;

/// Parameters of the search. SIMULEE's are the defaults.
#[derive(Debug, Clone)]
pub struct EvolutionParameters {
    /// Launches in a generation.
    pub population: usize,
    /// Generations, unless a conflict is found before.
    pub generations: usize,
    /// The search ends below this score.
    pub accept: f64,
    /// The search ends at this time too, with the population that it has.
    pub deadline: Option<Instant>,
}

impl EvolutionParameters {
    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Default for EvolutionParameters {
    fn default() -> Self {
        EvolutionParameters { population: 10, generations: 10, accept: 0.3, deadline: None }
    }
}

/// A launch with the memory it accesses.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The launch.
    pub launch: GeneratedLaunch,
    /// The memory that its work-items access.
    pub footprint: Footprint,
}

impl Scored {
    /// Returns the number of distinct addresses divided by the sum, over addresses, of the work-items that access them:
    /// 1 if none is shared, less otherwise.
    pub fn score(&self) -> f64 {
        score(&self.footprint)
    }
}

fn score(footprint: &Footprint) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    if footprint.threads == 0 { 1.0 } else { footprint.addresses as f64 / footprint.threads as f64 }
}

/// Measures a launch, given the footprint of its dry run; `None` if the launch cannot be run.
pub type Fitness<'a> = dyn FnMut(&Launch, Footprint) -> Result<Option<Footprint>> + 'a;

/// Takes the footprint of the dry run as the measure, so that nothing is compiled.
///
/// # Errors
/// None.
pub fn estimated(_: &Launch, dry: Footprint) -> Result<Option<Footprint>> {
    Ok(Some(dry))
}

/// Upper limits of work-group sizes per dimension, of work-groups per dimension and of scalars.
const MAX_LOCAL_SIZE: u64 = 256;
const MAX_GROUPS: u64 = 4;
const MAX_SCALAR: i128 = 1 << 12;

/// The part of an individual that is inherited.
#[derive(Debug, Clone)]
struct Solution {
    local: [u64; 3],
    groups: [u64; 3],
    scalars: Scalars,
    seed: u64,
}

struct Individual {
    solution: Solution,
    scored: Scored,
}

struct Evolution<'m, 'r> {
    launch_builder: LaunchBuilder<'m>,
    request: &'r Request,
    random: ChaCha8Rng,
    evaluated: u64,
}

/// Runs the search. Returns the last population, best first; it is smaller than requested if launches coincide.
///
/// # Errors
/// As `fitness` and [`super::launches::launches`].
pub fn evolve(
    model: &KernelModel,
    request: &Request,
    parameters: &EvolutionParameters,
    fitness: &mut Fitness<'_>,
) -> Result<Vec<Scored>> {
    let mut evolution = Evolution {
        launch_builder: LaunchBuilder::new(model, BuildLimits::default()),
        request,
        random: ChaCha8Rng::seed_from_u64(request.seed),
        evaluated: 0,
    };
    let mut population = Vec::new();
    for i in 0..parameters.population {
        if parameters.is_over() {
            break;
        }
        let solution = evolution.initial(i as u64)?;
        population.extend(evolution.measure(solution, fitness)?);
    }
    sort(&mut population);
    for _ in 0..parameters.generations {
        if parameters.is_over() || population.first().is_some_and(|best| best.scored.score() < parameters.accept) {
            break;
        }
        let parents: Vec<Solution> = population.iter().map(|i| i.solution.clone()).collect();
        for parent in parents {
            for step in [normal, cauchy] {
                if parameters.is_over() {
                    continue;
                }
                let child = evolution.child(&parent, step);
                population.extend(evolution.measure(child, fitness)?);
            }
        }
        sort(&mut population);
        population.truncate(parameters.population);
    }
    let mut found: Vec<Scored> = Vec::new();
    for individual in population {
        if !found.iter().any(|s| s.launch.launch == individual.scored.launch.launch) {
            found.push(individual.scored);
        }
    }
    Ok(found)
}

/// Sorts by score or, as long as no solution shares an address, by the distance between the addresses.
fn sort(population: &mut [Individual]) {
    let best = population.iter().map(|i| i.scored.score()).fold(1.0, f64::min);
    population.sort_by(|a, b| {
        let (a, b) = (&a.scored, &b.scored);
        if best < 1.0 { a.score().total_cmp(&b.score()) } else { a.footprint.range.cmp(&b.footprint.range) }
    });
}

/// Returns a number in the open interval from 0 to 1.
fn unit(random: &mut ChaCha8Rng) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let x = ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    x
}

/// Draws a step from the standard normal distribution (Box-Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * unit(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}

/// Draws a step from the standard Cauchy distribution.
fn cauchy(random: &mut ChaCha8Rng) -> f64 {
    (std::f64::consts::PI * (unit(random) - 0.5)).tan()
}

impl Evolution<'_, '_> {
    fn model(&self) -> &KernelModel {
        self.launch_builder.model
    }

    /// Returns a random solution: the sizes of one of the usual launches; scalars as that launch has them, or random
    /// ones of similar magnitude.
    fn initial(&mut self, number: u64) -> Result<Solution> {
        let geometries = match &self.request.range {
            Some(range) => vec![geometry::fixed(self.model(), range)?],
            None => geometry::choices(self.model()),
        };
        let geometry = &geometries[(self.random.next_u64() % geometries.len() as u64) as usize];
        let seed = self.random.next_u64();
        let mut scalars =
            assign::scalars(self.model(), &self.launch_builder.summary, geometry, Style::Even, number, seed);
        if number > 0 {
            for value in scalars.values_mut() {
                if let Number::Integer(n) = value {
                    *n = i128::from(self.random.next_u64() % (n.unsigned_abs().max(8) as u64 * 2));
                }
            }
        }
        let groups = geometry.resolved().group_counts();
        Ok(Solution { local: geometry.local, groups, scalars, seed })
    }

    /// Returns a child: sizes change by at most one work-item and one group per dimension, scalars by random steps.
    fn child(&mut self, parent: &Solution, step: fn(&mut ChaCha8Rng) -> f64) -> Solution {
        let mut solution = parent.clone();
        for d in 0..self.model().dims as usize {
            if !self.model().groups.one_group[d] {
                solution.groups[d] = self.stepped(solution.groups[d], MAX_GROUPS.max(solution.groups[d]));
            }
            let rules = &self.model().groups;
            let (is_fixed, powers) = (rules.required.is_some() || rules.exactly[d].is_some(), rules.power_of_two);
            let most = rules.at_most[d].unwrap_or(MAX_LOCAL_SIZE).min(MAX_LOCAL_SIZE).max(solution.local[d]);
            if !is_fixed {
                solution.local[d] = match powers {
                    false => self.stepped(solution.local[d], most),
                    true => {
                        let power = self.stepped(u64::from(solution.local[d].ilog2()) + 1, u64::from(most.ilog2()) + 1);
                        1 << (power - 1)
                    }
                };
            }
        }
        let rules = &self.model().groups;
        if rules.required.is_none() {
            solution.local[0] = rules.of_whole_sub_groups(solution.local[0]);
        }
        // In the order of the arguments, so that equal seeds give equal children.
        let mut keys: Vec<(u32, u64)> = solution.scalars.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            let by = step(&mut self.random);
            if let Some(value) = solution.scalars.get_mut(&key) {
                *value = match *value {
                    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is limited afterwards")]
                    Number::Integer(n) => Number::Integer(n.saturating_add(by.round() as i128)),
                    Number::Float(x) => Number::Float(x + by),
                };
            }
        }
        solution.seed = self.random.next_u64();
        solution
    }

    /// Returns a number that is one less, the same or one more, within 1 to `most`.
    fn stepped(&mut self, n: u64, most: u64) -> u64 {
        (n + self.random.next_u64() % 3).saturating_sub(1).clamp(1, most.max(1))
    }

    /// Enforces what the model says of scalars: rows do not overlap, divisors are not 0, arrays of fixed size do
    /// not overflow.
    fn keep_preconditions(&self, solution: &mut Solution, geometry: &Geometry) {
        let least = assign::scalars(self.model(), &self.launch_builder.summary, geometry, Style::Least, 0, 0);
        for scalar in &self.model().scalars {
            let key = (scalar.arg, scalar.offset);
            let Some(Number::Integer(n)) = solution.scalars.get_mut(&key) else { continue };
            let (low, high) = range_of(scalar.scalar);
            let hard = match (least.get(&key), scalar.lower_bounds.iter().any(|d| d.is_hard)) {
                (Some(Number::Integer(n)), true) => *n,
                _ => 0,
            };
            let low = match scalar.role {
                Role::Divisor | Role::RowLength | Role::Bound => hard.max(1),
                Role::Flag | Role::Data => low.max(-MAX_SCALAR),
                _ => 0,
            };
            *n = (*n).clamp(low, high.min(MAX_SCALAR).max(low));
            if scalar.divides && *n == 0 {
                *n = 1;
            }
        }
        assign::limit(self.model(), &self.launch_builder.summary, geometry, &mut solution.scalars);
    }

    fn measure(&mut self, mut solution: Solution, fitness: &mut Fitness<'_>) -> Result<Option<Individual>> {
        let geometry = match &self.request.range {
            Some(range) => geometry::fixed(self.model(), range)?,
            None => geometry::of_groups(self.model(), solution.local, solution.groups, "evolved"),
        };
        self.keep_preconditions(&mut solution, &geometry);
        let plan = LaunchPlan {
            geometry: &geometry,
            scalars: solution.scalars.clone(),
            fill: Fill::Random,
            seed: solution.seed,
            images: ImageSides::Launch,
        };
        let fitted = self.launch_builder.fit(&plan);
        let launch = self.launch_builder.launch(&plan, &fitted)?;
        let Some(footprint) = fitness(&launch, fitted.report.footprint)? else { return Ok(None) };
        self.evaluated += 1;
        let mut preconditions = self.model().preconditions.clone();
        preconditions.extend(fitted.notes);
        let name = format!("evolved {}", self.evaluated);
        let launch = GeneratedLaunch { launch, name, preconditions, guesses: fitted.guesses };
        Ok(Some(Individual { solution, scored: Scored { launch, footprint } }))
    }
}

fn range_of(scalar: Scalar) -> (i128, i128) {
    scalar_layout::range(scalar).unwrap_or((-MAX_SCALAR, MAX_SCALAR))
}
