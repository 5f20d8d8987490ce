//! The coverage pass: `plan` allocates the bits, `weave` inserts the probes that set them.

mod early_flush;
mod plan;
mod weave;

pub use plan::{CoveragePlan, Evidence};
pub(in crate::instrument) use weave::drop_effect_attributes;
