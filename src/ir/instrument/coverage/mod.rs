//! The coverage pass: `plan` allocates the bits, `weave` inserts the probes that set them, with `recorders` for
//! booleans that no edge tells.

mod code;
mod early_flush;
mod plan;
mod recorders;
mod weave;

pub use plan::{CoveragePlan, Evidence};
