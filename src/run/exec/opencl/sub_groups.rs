//! Asks a device which sub-groups it forms.

use std::time::Instant;

use kassay_base::error::Result;
use kassay_model::ptx::WARP;
use kassay_suite::launch::NdRange;

use super::supervisor::OpenClExecutor;
use crate::exec::protocol::{Reply, Request, protocol_error};
use crate::exec::{FormedSubGroups, ProgramId, Target};

/// See [`Executor::sub_groups`](crate::exec::Executor::sub_groups).
pub fn ask(executor: &mut OpenClExecutor, program: ProgramId, range: &NdRange) -> Result<Option<FormedSubGroups>> {
    if executor.info().target() == Some(Target::Ptx) {
        return Ok(Some(FormedSubGroups { size: WARP, count: None }));
    }
    let deadline = Instant::now() + executor.operation_timeout();
    let request = Request::SubGroups { program: program.0, range: range.clone() };
    match executor.ready(Some(program.0))?.call(&request, deadline) {
        Ok(Reply::SubGroups(formed)) => Ok(formed),
        Ok(_) => Err(protocol_error()),
        // A driver that dies of the question leaves it open.
        Err(_) => {
            executor.restart();
            Ok(None)
        }
    }
}
