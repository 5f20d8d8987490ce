//! The joint sweep in flight, and how to read its results.

use std::sync::Arc;
use std::time::Duration;

use kassay_base::error::Result;

use super::arena_cache::Kept;
use crate::exec::Fault;
use crate::exec::joint::{JointOutcome, JointResult, RESULT_WORDS};
use crate::exec::memory::{SharedMemory, Span};
use crate::exec::protocol::protocol_error;
use crate::exec::records::{PROGRESS_BYTES, ProgressWords};

/// A joint sweep that was sent to the worker.
#[derive(Debug)]
pub enum PendingSweep {
    /// The worker runs it.
    Running(Running),
    /// It could not be sent.
    Lost(Fault),
}

/// What is needed of a joint sweep to read its results.
#[derive(Debug)]
pub struct Running {
    pub runs: usize,
    /// Bytes of the results of all repeats.
    pub result_bytes: usize,
    pub records: Span,
    pub limit: Duration,
    /// What the worker's arena holds after it.
    pub kept: Kept,
    /// If outputs are wanted, for each run.
    pub outputs: Vec<RunOutputs>,
}

/// The memory of a run.
#[derive(Debug, Clone)]
pub struct RunOutputs {
    pub bytes: usize,
    /// The arguments that lie there: position, where, and length in bytes.
    pub of: Arc<[(u32, usize, usize)]>,
}

impl Running {
    /// Reads what a sweep that ran to its end has left.
    ///
    /// # Errors
    /// `Internal` if the memory is not as it was.
    pub fn read(&self, shared: &mut SharedMemory, kernel_times: &[u64]) -> Result<JointOutcome> {
        let memory = self.records.of_mut(shared.bytes()).ok_or_else(protocol_error)?;
        let launches = ProgressWords::of(memory).ok_or_else(protocol_error)?.read().steps / 2;
        let (results, mut left) = memory[PROGRESS_BYTES..].split_at(self.result_bytes);
        let outputs = self.outputs.iter().map(|run| {
            let memory;
            (memory, left) = left.split_at(run.bytes);
            run.of.iter().map(|(position, at, len)| (*position, memory[*at..at + len].to_vec())).collect()
        });
        let outputs = outputs.collect();
        let words = results.as_chunks::<4>().0.as_chunks::<RESULT_WORDS>().0;
        let result = |one: &[[u8; 4]; RESULT_WORDS]| JointResult(one.map(u32::from_le_bytes));
        Ok(JointOutcome::Ran {
            results: words.chunks(self.runs.max(1)).map(|repeat| repeat.iter().map(result).collect()).collect(),
            outputs,
            launches,
            kernel_time: Duration::from_nanos(kernel_times.iter().sum()),
        })
    }
}
