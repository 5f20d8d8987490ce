//! Makes launches keep to what seeds have in common, within the user's constraints.

use kassay_suite::launch::Launch;

use super::contradictions;
use super::interface_file::UserConstraints;
use super::model::KernelModel;

/// Makes a launch keep to what the seeds have in common, if it has to. Returns `false` if it cannot, or not within the
/// constraints; what is left of the launch is of no use then.
pub(super) fn fit(constraints: &UserConstraints, model: &KernelModel, launch: &mut Launch) -> bool {
    match &constraints.seeds {
        Some(seeds) if constraints.keeps_invariants => {
            seeds.invariants.restore(launch) && contradictions::of_file(constraints, model, "", launch).is_empty()
        }
        _ => true,
    }
}
