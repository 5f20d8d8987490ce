//! What there is to do for a launch that is to be kept.

use std::sync::Arc;

use super::kinds::Kind;
use super::sampling::Chosen;
use crate::launch::reached::Reached;
use crate::launch::{Request, Subject};
use crate::shadow::{Handle, Pinned, State, key};
use crate::spool::counts::Column;
use crate::spool::{blobs, config};

/// A launch that is to be kept.
pub struct Plan {
    pub kernel: usize,
    pub subject: Arc<Subject>,
    /// The number of this launch among those asked for of its kind, beginning with 1.
    pub ordinal: u64,
    pub sequence: u64,
    pub context: Handle,
    pub queue_properties: u64,
    pub reached: Reached,
    /// Bytes to be read at most.
    pub bytes: u64,
    pub pinned: Option<Pinned>,
    /// Why it was chosen.
    pub chosen: Chosen,
    /// Whether it covered what no earlier launch of its kind had; `None`: not known.
    pub new_coverage: Option<bool>,
}

/// Finds out what the arguments stand for. The error is the reason why the launch cannot be kept.
pub fn plan(
    state: &mut State,
    kind: &mut Kind,
    request: &Request,
    sequence: u64,
    chosen: Chosen,
) -> Result<Plan, Column> {
    let queue = state.queues.get(&key(request.queue)).ok_or(Column::UnknownKernel)?;
    let (context, queue_properties) = (queue.context, queue.properties);
    let reached = Reached::by(state, &kind.subject, request)?;
    let bytes = reached
        .regions
        .iter()
        .map(|region| region.length as u64 * if region.may_be_written && config().after { 2 } else { 1 })
        .sum();
    let mut plan = Plan {
        kernel: kind.number,
        subject: kind.subject.clone(),
        ordinal: kind.launches,
        sequence,
        context,
        queue_properties,
        reached,
        bytes,
        pinned: None,
        chosen,
        new_coverage: None,
    };
    check_budget(kind, &plan)?;
    if let Chosen::Perhaps(otherwise) = chosen {
        let written = plan.reached.regions.iter().filter(|region| region.may_be_written);
        let bytes = written.map(|region| region.length as u64).sum();
        if !kind.sampling.look(bytes) {
            return Err(otherwise);
        }
    }
    plan.pinned = Some(plan.reached.pin(state, request)?);
    Ok(plan)
}

/// Refuses what has no room, before anything is read. What is equal to contents that are there costs nothing, so a
/// launch is tried as long as no smaller one of its kind was too big.
fn check_budget(kind: &Kind, plan: &Plan) -> Result<(), Column> {
    if config().max_launch_bytes.is_some_and(|most| plan.bytes > most) {
        return Err(Column::MaxLaunchBytes);
    }
    let too_big = kind.sampling.too_big.is_some_and(|least| plan.bytes >= least);
    if plan.bytes > 0 && (too_big || blobs::left() == 0) { Err(Column::MaxBytes) } else { Ok(()) }
}
