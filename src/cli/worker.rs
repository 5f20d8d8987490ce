//! `kassay worker`: the hidden command in whose process OpenCL runs; see `exec::opencl`.

use kassay_base::error::Result;
use kassay_ir::lower::ptx::JOINT_PTX;
use kassay_run::exec::opencl;

/// It has no flags: standard input is the socket to the parent.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {}

/// Serves the parent until it closes the connection.
///
/// # Errors
/// `Internal` if there is no parent.
pub fn run(_: &WorkerArgs) -> Result<u8> {
    opencl::serve(JOINT_PTX)?;
    Ok(0)
}
