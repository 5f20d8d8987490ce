//! A joint sweep that the worker is at, and what it leaves.

use std::sync::Arc;
use std::time::Duration;

use super::resident::Kept;
use crate::error::Result;
use crate::exec::Fault;
use crate::exec::joint::{JointOutcome, JointResult, RESULT_WORDS};
use crate::exec::memory::{SharedMemory, Span};
use crate::exec::protocol::protocol_error;
use crate::exec::records::{PROGRESS_BYTES, ProgressWords};

/// A joint sweep that was begun.
#[derive(Debug)]
pub enum Begun {
    /// The worker is at it.
    Running(Running),
    /// It could not be begun.
    Lost(Fault),
}

/// What is still needed of a joint sweep to read what it leaves.
#[derive(Debug)]
pub struct Running {
    pub runs: usize,
    /// Bytes of the results of all repeats.
    pub result_bytes: usize,
    pub records: Span,
    pub limit: Duration,
    /// What the worker's arena keeps behind it.
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
