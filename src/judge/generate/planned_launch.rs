//! Represents launches that kassay makes: as they are planned, and as they are built.

use kassay_suite::launch::Launch;

use super::assign::Scalars;
use super::buffer_growth::Guess;
use super::fill::Fill;
use super::geometry::Geometry;
use super::launch_builder::{ImageSides, LaunchPlan};

/// A launch that is planned but not built.
#[derive(Debug, Clone)]
pub(super) struct PlannedLaunch {
    pub geometry: Geometry,
    pub scalars: Scalars,
    pub fill: Fill,
    pub seed: u64,
    pub images: ImageSides,
    /// Describes its kind; not unique.
    pub name: String,
}

impl PlannedLaunch {
    /// Returns the plan without the name.
    pub fn plan(&self) -> LaunchPlan<'_> {
        LaunchPlan {
            geometry: &self.geometry,
            scalars: self.scalars.clone(),
            fill: self.fill,
            seed: self.seed,
            images: self.images,
        }
    }
}

/// A launch built by kassay.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedLaunch {
    /// The launch itself.
    pub launch: Launch,
    /// Unique among the launches of a kernel.
    pub name: String,
    /// Assumptions made in building it.
    pub preconditions: Vec<String>,
    /// Arguments whose length the kernel does not determine.
    pub guesses: Vec<Guess>,
}

/// Returns `name`, with a number appended if it is taken.
pub(super) fn unique<'n>(name: String, others: impl Iterator<Item = &'n str>) -> String {
    let taken: Vec<&str> = others.filter(|o| o.starts_with(&name)).collect();
    let named = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name} {n}")));
    named.into_iter().find(|n| !taken.contains(&n.as_str())).unwrap_or(name)
}
