//! Makes launches keep to what seeds have in common, within the user's constraints.

use super::contradictions;
use super::interface_file::UserConstraints;
use super::model::KernelModel;
use crate::suite::launch::Launch;

/// Makes a launch keep to what the seeds have in common, if it has to. Returns `false` if it cannot, or not within the
/// constraints; what is left of the launch is of no use then.
pub(super) fn couple(constraints: &UserConstraints, model: &KernelModel, launch: &mut Launch) -> bool {
    match &constraints.seeds {
        Some(seeds) if constraints.keeps_couplings => {
            seeds.couplings.restore(launch) && contradictions::of_file(constraints, model, "", launch).is_empty()
        }
        _ => true,
    }
}
