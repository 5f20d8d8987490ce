//! `kassay worker`: the hidden command behind which OpenCL runs, see `exec::opencl`.

use crate::error::Result;
use crate::exec::opencl;

/// The descriptors that the parent passed.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// The socket to the parent.
    #[arg(long)]
    socket: i32,
    /// The memory shared with it.
    #[arg(long)]
    memory: i32,
}

/// Serves the parent until it hangs up.
///
/// # Errors
/// `Internal` if no parent is there.
pub fn run(args: &WorkerArgs) -> Result<u8> {
    opencl::serve(args.socket, args.memory)?;
    Ok(0)
}
