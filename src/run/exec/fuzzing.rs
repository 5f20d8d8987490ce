//! What fuzzing needs of the protocol between kassay and its workers, and nothing else uses.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use kassay_base::error::Result;

use super::memory::{SharedMemory, memory_file};
use super::opencl::{self, OpenClExecutor, StandIn, WorkerOptions};
use super::protocol::{Connection, Reply, Request};
use super::records::{ProgressWords, Records};

/// As much as a socket takes without a reader.
const MOST_BYTES: usize = 64 << 10;

/// Reads bytes as a worker does, and answers the requests in them as a worker without a device. Returns how many there
/// are.
///
/// # Errors
/// As the system reports.
pub fn requests(bytes: &[u8]) -> std::io::Result<usize> {
    let mut connection = sent(bytes)?;
    let mut shared = SharedMemory::new(memory_file(c"kassay-fuzz")?);
    let mut count = 0;
    while let Ok(request) = connection.receive::<Request>(None) {
        count += 1;
        opencl::answer_without_device(request, &mut shared);
    }
    Ok(count)
}

/// Reads bytes as the parent of a worker does. Returns how many replies are in them.
///
/// # Errors
/// As the system reports.
pub fn replies(bytes: &[u8]) -> std::io::Result<usize> {
    let mut connection = sent(bytes)?;
    let mut count = 0;
    while connection.receive::<Reply>(None).is_ok() {
        count += 1;
    }
    Ok(count)
}

/// Reads the results of a sweep from memory that a worker has left in any state. Returns how many variations have
/// results.
pub fn records(memory: &mut [u8], repeats: u32, words: u32, variations: usize) -> usize {
    let records = Records { repeats, words };
    if let Some(progress) = ProgressWords::of(memory) {
        progress.read();
    }
    (0..variations).filter(|variation| records.read(memory, *variation).is_some()).count()
}

/// Starts an executor whose workers are threads that run `worker`, which gets their ends of the socket and of the
/// shared memory and returns at the latest when the socket ends.
///
/// # Errors
/// As [`OpenClExecutor::start`].
pub fn executor(
    worker: impl Fn(UnixStream, File) + Send + Sync + 'static,
    options: WorkerOptions,
) -> Result<OpenClExecutor> {
    OpenClExecutor::with_stand_in(StandIn(Arc::new(worker)), options)
}

/// The other end of a connection over which these bytes have been sent.
fn sent(bytes: &[u8]) -> std::io::Result<Connection> {
    let (mut ours, theirs) = UnixStream::pair()?;
    ours.write_all(&bytes[..bytes.len().min(MOST_BYTES)])?;
    Ok(Connection::new(theirs))
}
