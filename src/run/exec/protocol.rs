//! The messages between kassay and its worker processes: length-prefixed JSON over a socket pair.
//!
//! Bulk data (code, buffers, texels, probe words) is not in the messages: it lies in memory that both map, see
//! [`super::memory`]. The parent sends requests, the worker replies, one at a time.

use std::io::{Error as IoError, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use kassay_base::error::Error;
use kassay_model::interface::Type;
use kassay_suite::launch::{Addressing, Filter, ImageFormat, ImageShape, NdRange, View};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::memory::Span;
use super::{Batch, DeviceInfo, DeviceSelector, FormedSubGroups, Kept, Target};

/// Upper limit for the length of a message in bytes; only garbage is longer.
const MAX_MESSAGE_BYTES: u32 = 64 << 20;

/// Parent to worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Open a device: the first message of an executor's worker.
    Open {
        selector: DeviceSelector,
        /// The form of code that the device is to take.
        target: Target,
        /// Whether joint launches will follow.
        joint: bool,
    },
    /// List every device: the only message of `probe_devices`.
    List,
    Load {
        program: u32,
        /// Size of the shared memory in bytes, here and below.
        memory: u64,
        /// The form of the code.
        target: Target,
        code: Span,
        entry: String,
        options: String,
        /// Whether images and samplers are what `lower::image_buffers` makes of them.
        image_buffers: bool,
    },
    Unload {
        program: u32,
    },
    /// Which sub-groups a launch of this range has.
    SubGroups {
        program: u32,
        range: NdRange,
    },
    Run {
        program: u32,
        memory: u64,
        range: NdRange,
        args: Vec<Arg>,
        /// By position: how many zero bytes before and after a buffer belong to it; missing entries are 0.
        margins: Vec<u64>,
        /// By position: which part of its memory a buffer is; missing entries are the default.
        views: Vec<View>,
        repeats: u32,
        probe: Option<Span>,
        /// What the probe buffer begins with; the rest is zero.
        head: Option<Span>,
        /// Memory after the probe buffer that stays on the device.
        kept: Option<Kept>,
        /// Positions of the arguments whose contents are to overwrite the inputs in the shared memory afterwards.
        outputs: Vec<u32>,
    },
    Sweep {
        program: u32,
        memory: u64,
        sweep: Box<Sweep>,
    },
    Joint {
        program: u32,
        memory: u64,
        joint: Box<Joint>,
    },
}

/// Many runs of several launches; see [`super::JointSweep`]. The device's memory, the arena, begins with what `fixed`
/// holds; the memories of runs follow it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Joint {
    pub args: Vec<JointArg>,
    /// The work-group size of all launches.
    pub local: [u64; 3],
    /// Bytes of the arena.
    pub arena: u64,
    /// What it begins with: contents of buffers that are not written, what the memory of a run begins with, expected
    /// outputs. The first `kept` bytes are there from the sweep before.
    pub kept: u64,
    pub fixed: Span,
    /// 32-bit words: the launches' blocks of parameters, one after the other.
    pub blocks: Span,
    pub block_words: u32,
    pub launches: Vec<JointLaunch>,
    /// What is compared, in the form of `runtime-cl/joint_runs.cl`.
    pub fields: Span,
    /// Three 32-bit words for each run: its launch, and what its slot begins with.
    pub runs: Span,
    pub count: u32,
    pub repeats: u32,
    pub most_runs: u32,
    /// Whether the memories of runs are returned, after the results.
    pub memories: bool,
    /// Progress words, then for each repeat the results of all runs, then their memories.
    pub records: Span,
}

/// A launch of which there are runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JointLaunch {
    /// Number of its work-groups.
    pub groups: u32,
    /// What the memory of a run begins with: where it lies in the arena, and its length, which is a multiple of 128, in
    /// bytes.
    pub pristine: u64,
    pub memory: u64,
    /// What is compared: position of the first field, and their number.
    pub fields: (u32, u32),
}

/// An argument of the kernel in a joint launch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum JointArg {
    /// A pointer to the arena.
    Arena,
    /// A pointer to local memory of this size in bytes.
    Local(u64),
    /// Passed by value, of this size in bytes; the value is in the block of parameters.
    Value(u64),
}

/// Many runs of one launch on pristine inputs; see [`super::Sweep`].
#[derive(Debug, Serialize, Deserialize)]
pub struct Sweep {
    pub range: NdRange,
    pub args: Vec<Arg>,
    /// By position: which part of its memory a buffer is; missing entries are the default.
    pub views: Vec<View>,
    /// By position: whether the kernel cannot write to the argument.
    pub read_only: Vec<bool>,
    /// What the probe buffer begins with; the span's bytes are its 32-bit words.
    pub probe: Span,
    pub probe_words: u64,
    /// 32-bit words: the start of each of the `count` variations among the pairs that follow, and the end of the last
    /// one; then the pairs of index and value.
    pub variations: Span,
    pub count: u32,
    pub expected: Vec<Expected>,
    pub repeats: u32,
    pub words: (u32, u32),
    pub batch: Option<Batch>,
    /// After everything else in the shared memory; see [`super::records`].
    pub records: Span,
}

/// What an output has to agree with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expected {
    pub position: u32,
    /// The name of the argument in descriptions of differences.
    pub label: String,
    pub bytes: Span,
    pub ty: Option<Type>,
    /// The bits of the tolerances `abs` and `rel`, because JSON has no infinity.
    pub tolerance: [u64; 2],
}

/// An argument of a launch; its bytes lie in the shared memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Arg {
    Value(Span),
    /// A null pointer if the span is empty.
    Buffer(Span),
    /// In the memory of the argument at this position.
    Same(u32),
    /// A pointer to local memory of this size in bytes.
    Local(u64),
    Image {
        shape: ImageShape,
        format: ImageFormat,
        texels: Span,
    },
    Sampler {
        addressing: Addressing,
        filter: Filter,
        normalized: bool,
    },
}

/// Worker to parent.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    Opened(DeviceInfo),
    /// No device matches the request; these devices exist instead.
    NoDevice(Vec<DeviceInfo>),
    /// The requested device takes no IL.
    NoIl(DeviceInfo),
    /// OpenCL itself does not work: the loader is missing, or a driver refuses everything.
    Broken {
        what: String,
        help: String,
    },
    Devices(Vec<DeviceInfo>),
    Loaded,
    /// The device refused the module.
    BuildFailed {
        error: String,
        log: String,
    },
    Unloaded,
    /// `None` if the driver does not tell.
    SubGroups(Option<FormedSubGroups>),
    Done {
        /// Nanoseconds, one entry per repeat.
        kernel_times: Vec<u64>,
    },
    Swept {
        /// Nanoseconds, of some of the launches.
        kernel_times: Vec<u64>,
    },
    /// The device refused the launch.
    Rejected {
        error: String,
        explanation: String,
    },
    /// The device began the launch and stopped it; nothing works in this worker from now on.
    Stopped {
        error: String,
    },
    /// Nothing works in this worker, and not because of the launch that it was asked for.
    Lost {
        error: String,
    },
}

/// One end of the connection between parent and worker.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
}

impl Connection {
    /// Wraps one end of the socket pair.
    pub fn new(stream: UnixStream) -> Connection {
        Connection { stream }
    }

    /// Sends a message.
    /// # Errors
    /// As the system reports; `BrokenPipe` if the other side is gone.
    pub fn send<T: Serialize>(&mut self, message: &T) -> std::io::Result<()> {
        let mut bytes = vec![0; 4];
        serde_json::to_writer(&mut bytes, message)?;
        let len = u32::try_from(bytes.len() - 4)
            .ok()
            .filter(|len| *len <= MAX_MESSAGE_BYTES)
            .ok_or(ErrorKind::InvalidData)?;
        bytes[..4].copy_from_slice(&len.to_le_bytes());
        self.stream.write_all(&bytes)
    }

    /// Ends the connection in both directions: the other side reads its end.
    pub fn close(&self) {
        // It fails only if the other side is gone.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// Waits until a message, or the end of the stream, can be read; returns `false` if `patience` passes first.
    pub fn ready(&self, patience: Duration) -> bool {
        let patience = Timespec::try_from(patience.max(Duration::from_millis(1))).ok();
        poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], patience.as_ref()).is_ok_and(|ready| ready > 0)
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// `TimedOut` after `deadline`, `UnexpectedEof` if the other side is gone, `InvalidData` if the bytes are not
    /// a message.
    pub fn receive<T: DeserializeOwned>(&mut self, deadline: Option<Instant>) -> std::io::Result<T> {
        let mut head = [0; 4];
        self.fill(&mut head, deadline)?;
        let len = u32::from_le_bytes(head);
        if len > MAX_MESSAGE_BYTES {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; len as usize];
        self.fill(&mut body, deadline)?;
        serde_json::from_slice(&body).map_err(|e| IoError::new(ErrorKind::InvalidData, e))
    }

    fn fill(&mut self, mut into: &mut [u8], deadline: Option<Instant>) -> std::io::Result<()> {
        while !into.is_empty() {
            if let Some(deadline) = deadline {
                // What has arrived already is read even after the deadline.
                let left = deadline.saturating_duration_since(Instant::now());
                self.stream.set_read_timeout(Some(left.max(Duration::from_micros(1))))?;
            }
            match self.stream.read(into) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => into = &mut into[n..],
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// The error for replies that no worker of this version sends.
pub fn protocol_error() -> Error {
    Error::internal("the worker process answered nonsense")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_complete_or_not_at_all() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let (a, b) = UnixStream::pair()?;
        let (mut a, mut b) = (Connection::new(a), Connection::new(b));
        a.send(&Request::Unload { program: 7 })?;
        assert!(matches!(b.receive(None)?, Request::Unload { program: 7 }));
        // A message that arrived in time is there after the deadline, too.
        a.send(&Request::Unload { program: 8 })?;
        assert!(matches!(b.receive(Some(Instant::now()))?, Request::Unload { program: 8 }));
        let soon = Some(Instant::now() + Duration::from_millis(20));
        assert_eq!(b.receive::<Request>(soon).map_err(|e| e.kind()).err(), Some(ErrorKind::TimedOut));
        a.stream.write_all(&[9, 0, 0, 0, b'x'])?;
        drop(a);
        assert_eq!(b.receive::<Request>(None).map_err(|e| e.kind()).err(), Some(ErrorKind::UnexpectedEof));
        Ok(())
    }
}
