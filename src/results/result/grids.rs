//! What findings at barriers of all work-groups of a launch are about.

use kassay_model::native::table::GRID_BARRIER;

use super::check::Finding;

impl Finding {
    /// Returns whether work-items wait at a barrier of all work-groups of the launch.
    pub fn waits_for_grid(&self) -> bool {
        self.accesses.iter().any(|access| access.waiting.is_some() && access.builtin.as_deref() == Some(GRID_BARRIER))
    }

    /// Returns what a branch has split that sent work-items to different barriers.
    pub fn split(&self) -> &'static str {
        if self.waits_for_grid() { "launch" } else { "work-group" }
    }
}
