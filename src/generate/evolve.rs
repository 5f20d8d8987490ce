//! Evolutionary search for launches in which work-items meet (SIMULEE 3.1): sizes and scalars are drawn at random, each solution has
//! one child by small steps and one by large ones, and those survive whose work-items share the most addresses.

use std::time::Instant;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::assign::{self, Number, Scalars, Style};
use super::fill::Fill;
use super::geometry::{self, Geometry};
use super::launch_builder::{Cost, LaunchBuilder, Plan, Sides};
use super::launches::{GeneratedLaunch, Request};
use super::model::{KernelModel, Role};
use crate::error::Result;
use crate::exec::simulator::observation::Footprint;
use crate::kernel::interface::Scalar;
use crate::suite::launch::Launch;
use crate::suite::scalar_layout;

/// SIMULEE's parameters are the defaults.
#[derive(Debug, Clone)]
pub struct Search {
    pub population: usize,
    pub generations: usize,
    /// The search ends below this score.
    pub accept: f64,
    /// And then, with what it has.
    pub deadline: Option<Instant>,
}

impl Search {
    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Default for Search {
    fn default() -> Self {
        Search { population: 10, generations: 10, accept: 0.3, deadline: None }
    }
}

/// A launch and what it touches.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    pub launch: GeneratedLaunch,
    pub footprint: Footprint,
}

impl Scored {
    /// Distinct addresses by the sum over addresses of the work-items that access them; at most 1, where no two share one.
    pub fn score(&self) -> f64 {
        score(&self.footprint)
    }
}

fn score(footprint: &Footprint) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    if footprint.threads == 0 { 1.0 } else { footprint.addresses as f64 / footprint.threads as f64 }
}

/// How a launch is measured, given what the dry run makes of it; `None`: it cannot be run.
pub type Fitness<'a> = dyn FnMut(&Launch, Footprint) -> Result<Option<Footprint>> + 'a;

/// The dry run's own measure: nothing is compiled.
///
/// # Errors
/// None.
pub fn estimated(_: &Launch, dry: Footprint) -> Result<Option<Footprint>> {
    Ok(Some(dry))
}

/// Work-items and scalars do not grow beyond these.
const MOST_ITEMS: u64 = 256;
const MOST_GROUPS: u64 = 4;
const MOST: i128 = 1 << 12;

/// A solution: what is inherited.
#[derive(Debug, Clone)]
struct Genes {
    local: [u64; 3],
    groups: [u64; 3],
    scalars: Scalars,
    seed: u64,
}

struct Individual {
    genes: Genes,
    scored: Scored,
}

struct Evolution<'m, 'r> {
    launch_builder: LaunchBuilder<'m>,
    request: &'r Request,
    random: ChaCha8Rng,
    born: u64,
}

/// The last population, best first; shorter where launches are alike.
///
/// # Errors
/// As of `fitness` and of [`super::launches::launches`].
pub fn evolve(
    model: &KernelModel,
    request: &Request,
    search: &Search,
    fitness: &mut Fitness<'_>,
) -> Result<Vec<Scored>> {
    let mut evolution = Evolution {
        launch_builder: LaunchBuilder::new(model, Cost::default()),
        request,
        random: ChaCha8Rng::seed_from_u64(request.seed),
        born: 0,
    };
    let mut population = Vec::new();
    for i in 0..search.population {
        if search.is_over() {
            break;
        }
        let genes = evolution.initial(i as u64)?;
        population.extend(evolution.measure(genes, fitness)?);
    }
    sort(&mut population);
    for _ in 0..search.generations {
        if search.is_over() || population.first().is_some_and(|best| best.scored.score() < search.accept) {
            break;
        }
        let parents: Vec<Genes> = population.iter().map(|i| i.genes.clone()).collect();
        for parent in parents {
            for step in [normal, cauchy] {
                if search.is_over() {
                    continue;
                }
                let child = evolution.child(&parent, step);
                population.extend(evolution.measure(child, fitness)?);
            }
        }
        sort(&mut population);
        population.truncate(search.population);
    }
    let mut found: Vec<Scored> = Vec::new();
    for individual in population {
        if !found.iter().any(|s| s.launch.launch == individual.scored.launch.launch) {
            found.push(individual.scored);
        }
    }
    Ok(found)
}

/// By score; where no solution shares an address, by how near the addresses lie.
fn sort(population: &mut [Individual]) {
    let best = population.iter().map(|i| i.scored.score()).fold(1.0, f64::min);
    population.sort_by(|a, b| {
        let (a, b) = (&a.scored, &b.scored);
        if best < 1.0 { a.score().total_cmp(&b.score()) } else { a.footprint.range.cmp(&b.footprint.range) }
    });
}

/// A number from 0 to below 1, never 0.
fn unit(random: &mut ChaCha8Rng) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let x = ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    x
}

/// A step of the standard normal distribution (Box and Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * unit(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}

/// A step of the standard Cauchy distribution.
fn cauchy(random: &mut ChaCha8Rng) -> f64 {
    (std::f64::consts::PI * (unit(random) - 0.5)).tan()
}

impl Evolution<'_, '_> {
    fn model(&self) -> &KernelModel {
        self.launch_builder.model
    }

    /// A random solution: the sizes of one of the usual launches, with scalars as that launch has them or from anywhere near.
    fn initial(&mut self, number: u64) -> Result<Genes> {
        let geometries = match &self.request.range {
            Some(range) => vec![geometry::fixed(self.model(), range)?],
            None => geometry::choices(self.model()),
        };
        let geometry = &geometries[(self.random.next_u64() % geometries.len() as u64) as usize];
        let seed = self.random.next_u64();
        let mut scalars =
            assign::scalars(self.model(), &self.launch_builder.reading, geometry, Style::Even, number, seed);
        if number > 0 {
            for value in scalars.values_mut() {
                if let Number::Integer(n) = value {
                    *n = i128::from(self.random.next_u64() % (n.unsigned_abs().max(8) as u64 * 2));
                }
            }
        }
        let groups = geometry.resolved().group_counts();
        Ok(Genes { local: geometry.local, groups, scalars, seed })
    }

    /// A child: sizes change by at most one work-item and one group in each dimension, scalars by random steps.
    fn child(&mut self, parent: &Genes, step: fn(&mut ChaCha8Rng) -> f64) -> Genes {
        let mut genes = parent.clone();
        for d in 0..self.model().dims as usize {
            genes.groups[d] = self.changed(genes.groups[d], MOST_GROUPS.max(genes.groups[d]));
            let rules = &self.model().groups;
            let (is_fixed, powers) = (rules.required.is_some() || rules.exactly[d].is_some(), rules.power_of_two);
            let most = rules.at_most[d].unwrap_or(MOST_ITEMS).min(MOST_ITEMS).max(genes.local[d]);
            if !is_fixed {
                genes.local[d] = match powers {
                    false => self.changed(genes.local[d], most),
                    true => {
                        let power = self.changed(u64::from(genes.local[d].ilog2()) + 1, u64::from(most.ilog2()) + 1);
                        1 << (power - 1)
                    }
                };
            }
        }
        // In the order of the arguments, so that equal seeds give equal children.
        let mut keys: Vec<(u32, u64)> = genes.scalars.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            let by = step(&mut self.random);
            if let Some(value) = genes.scalars.get_mut(&key) {
                *value = match *value {
                    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is limited behind")]
                    Number::Integer(n) => Number::Integer(n.saturating_add(by.round() as i128)),
                    Number::Float(x) => Number::Float(x + by),
                };
            }
        }
        genes.seed = self.random.next_u64();
        genes
    }

    /// One less, the same or one more, from 1 to `most`.
    fn changed(&mut self, n: u64, most: u64) -> u64 {
        (n + self.random.next_u64() % 3).saturating_sub(1).clamp(1, most.max(1))
    }

    /// What the model says of scalars still holds: rows do not overlap, divisors are not 0, arrays of fixed size do not overflow.
    fn keep_preconditions(&self, genes: &mut Genes, geometry: &Geometry) {
        let least = assign::scalars(self.model(), &self.launch_builder.reading, geometry, Style::Least, 0, 0);
        for scalar in &self.model().scalars {
            let key = (scalar.arg, scalar.offset);
            let Some(Number::Integer(n)) = genes.scalars.get_mut(&key) else { continue };
            let (low, high) = range_of(scalar.scalar);
            let hard = match (least.get(&key), scalar.demands.iter().any(|d| d.is_hard)) {
                (Some(Number::Integer(n)), true) => *n,
                _ => 0,
            };
            let low = match scalar.role {
                Role::Divisor | Role::RowLength | Role::Bound => hard.max(1),
                Role::Flag | Role::Data => low.max(-MOST),
                _ => 0,
            };
            *n = (*n).clamp(low, high.min(MOST).max(low));
            if scalar.divides && *n == 0 {
                *n = 1;
            }
        }
        assign::limit(self.model(), &self.launch_builder.reading, geometry, &mut genes.scalars);
    }

    fn measure(&mut self, mut genes: Genes, fitness: &mut Fitness<'_>) -> Result<Option<Individual>> {
        let geometry = match &self.request.range {
            Some(range) => geometry::fixed(self.model(), range)?,
            None => geometry::of_groups(self.model(), genes.local, genes.groups, "evolved"),
        };
        self.keep_preconditions(&mut genes, &geometry);
        let plan = Plan {
            geometry: &geometry,
            scalars: genes.scalars.clone(),
            fill: Fill::Random,
            seed: genes.seed,
            images: Sides::Launch,
        };
        let outcome = self.launch_builder.try_out(&plan);
        let launch = self.launch_builder.launch(&plan, &outcome)?;
        let Some(footprint) = fitness(&launch, outcome.report.footprint)? else { return Ok(None) };
        self.born += 1;
        let mut preconditions = self.model().preconditions.clone();
        preconditions.extend(outcome.notes);
        let name = format!("evolved {}", self.born);
        let launch = GeneratedLaunch { launch, name, preconditions, guesses: outcome.guesses };
        Ok(Some(Individual { genes, scored: Scored { launch, footprint } }))
    }
}

fn range_of(scalar: Scalar) -> (i128, i128) {
    scalar_layout::range(scalar).unwrap_or((-MOST, MOST))
}
