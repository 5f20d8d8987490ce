//! Asks a device which size sub-groups have.

use std::time::Instant;

use super::supervisor::OpenClExecutor;
use crate::error::Result;
use crate::exec::protocol::{Reply, Request, protocol_error};
use crate::exec::{ProgramId, Target};
use crate::lower::ptx::target::WARP;
use crate::suite::launch::NdRange;

/// See [`Executor::sub_group_size`](crate::exec::Executor::sub_group_size).
pub fn size(executor: &mut OpenClExecutor, program: ProgramId, range: &NdRange) -> Result<Option<u32>> {
    if executor.info().target() == Some(Target::Ptx) {
        return Ok(Some(WARP));
    }
    let deadline = Instant::now() + executor.operation_timeout();
    let request = Request::SubGroup { program: program.0, range: range.clone() };
    match executor.ready(Some(program.0))?.call(&request, deadline) {
        Ok(Reply::SubGroup(size)) => Ok(size),
        Ok(_) => Err(protocol_error()),
        // A driver that dies of the question leaves it open.
        Err(_) => {
            executor.restart();
            Ok(None)
        }
    }
}
