//! `kassay worker`: the hidden command in whose process OpenCL runs; see `exec::opencl`.

use crate::error::Result;
use crate::exec::opencl;

/// The file descriptors inherited from the parent.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// The socket to the parent
    #[arg(long)]
    socket: i32,
    /// The memory shared with the parent
    #[arg(long)]
    memory: i32,
}

/// Serves the parent until it closes the connection.
///
/// # Errors
/// `Internal` if there is no parent.
pub fn run(args: &WorkerArgs) -> Result<u8> {
    opencl::serve(args.socket, args.memory)?;
    Ok(0)
}
