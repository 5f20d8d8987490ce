//! Conditions on launches that a kernel may rely on: which ones its code suggests (`candidates`, `checks`) and have
//! to do with what was found (`relevance`), what is known of a launch (`known`), and launches that satisfy one
//! (`fulfilment`).

mod candidates;
mod checks;
mod fulfilment;
mod known;
mod relevance;

use kassay_base::error::Result;
use kassay_model::condition::Condition;
use kassay_model::interface::Interface;
use kassay_suite::launch::Launch;

pub use self::candidates::Candidates;
use self::known::Built;
pub use self::relevance::Concerns;
use self::relevance::Relevant;
use super::launch_builder::{BuildLimits, LaunchBuilder};
use super::launches::Request;
use super::model::KernelModel;
use super::planned_launch::GeneratedLaunch;

/// Launches that need more are not made: many are tried.
const LIMITS: BuildLimits = BuildLimits { instructions: 400_000, bytes: 1 << 21, end: None };

/// Knows which conditions a kernel may rely on, and makes launches that satisfy them.
pub struct Conditions<'m> {
    builder: LaunchBuilder<'m>,
    request: Request,
}

impl<'m> Conditions<'m> {
    /// Reads the model of a kernel; `request` is that of its other launches.
    pub fn new(model: &'m KernelModel, request: Request) -> Conditions<'m> {
        Conditions { builder: LaunchBuilder::new(model, LIMITS), request }
    }

    /// Returns the conditions that the code suggests, on what the findings are about.
    pub fn candidates(&self, concerns: &Concerns) -> Candidates {
        let (model, summary) = (self.builder.model, &self.builder.summary);
        let relevant = Relevant::of(model, summary, concerns);
        let mut all = candidates::of(model, summary, self.request.range.is_some());
        for conditions in [&mut all.single, &mut all.joint] {
            conditions.retain(|condition| relevant.has(condition));
        }
        all
    }

    /// Builds launches of several sizes that satisfy the condition, and hands each to `take` until that returns false;
    /// none if it cannot be satisfied by a choice of sizes, scalars and contents. The first ones have sizes and scalars
    /// of `examples`, but for what the condition changes.
    ///
    /// # Errors
    /// Those of `take`; `Caller` if an argument has a type that cannot be generated, or the requested sizes do not fit
    /// the kernel.
    pub fn launches(
        &self,
        condition: &Condition,
        examples: &[&Launch],
        take: &mut dyn FnMut(GeneratedLaunch) -> Result<bool>,
    ) -> Result<()> {
        fulfilment::launches_under(&self.builder, &self.request, condition, examples, take)
    }

    /// Returns whether the condition holds in a launch with a definite work-group size; `None`: that is not known.
    pub fn holds(&self, condition: &Condition, launch: &Launch) -> Option<bool> {
        holds(condition, &self.builder.model.interface, launch)
    }
}

/// Returns whether the condition holds in a launch of the kernel with a definite work-group size; `None`: that is not
/// known.
pub fn holds(condition: &Condition, interface: &Interface, launch: &Launch) -> Option<bool> {
    condition.holds(&Built { interface, launch })
}
