//! The parent's side of joint sweeps: lays out the arena, says what is compared, and reads the results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_model::interface::Scalar;
use kassay_model::joint::{argument, parameters};
use kassay_suite::launch::ArgValue;
use kassay_suite::scalar_layout;

use super::arena_cache::{ALIGNMENT, ArenaCache, Bytes};
use super::pending_sweep::{PendingSweep, RunOutputs, Running};
use super::process::{NoReply, WorkerExit};
use super::supervisor::OpenClExecutor;
use crate::exec::joint::{self, JointLaunch, JointOutcome, JointRun, JointSweep, LEAF_BITS, RESULT_WORDS};
use crate::exec::memory::SpanAllocator;
use crate::exec::protocol::{self, JointArg, Reply, Request, protocol_error};
use crate::exec::records::{PROGRESS_BYTES, ProgressWords};
use crate::exec::{DeviceInfo, Fault, ProgramId, Reference};

/// The memories of all runs of a launch of the device take at most 1 / `MEMORY_DIVISOR` of its memory.
const MEMORY_DIVISOR: u64 = 4;

/// Nor do they take more bytes than this: so many runs keep every device busy.
const MOST_MEMORY: u64 = 4 << 30;

/// Bytes of a run, as the worker gets it: three words.
const RUN_BYTES: usize = 12;

/// Begins a joint sweep; see [`Executor::begin_jointly`](crate::exec::Executor::begin_jointly).
pub fn begin(executor: &mut OpenClExecutor, program: ProgramId, sweep: &JointSweep<'_>) -> Result<()> {
    if executor.pending_sweep.is_some() {
        return Err(Error::internal("a joint sweep is sent before the one before it is finished"));
    }
    executor.arena_cache.limit(executor.info().global_memory);
    let plan = Plan::new(sweep, &mut executor.arena_cache)?;
    let arena = match plan.arena(sweep, executor.arena_cache.len(), executor.info()) {
        Ok(arena) => arena,
        Err(fault) => {
            // The next sweep may do without what fills the memory.
            executor.arena_cache.clear();
            executor.pending_sweep = Some(PendingSweep::Lost(fault));
            return Ok(());
        }
    };
    let on_host = if executor.info().kind == "cpu" { arena } else { 0 };
    executor.prepare_spare();
    executor.ready(Some(program.0))?;
    let (process, cache) = executor.busy_with_cache()?;
    // Until the worker says that it has the rest, it may have nothing.
    let kept = cache.has(std::mem::take(&mut process.kept));
    let repeats = sweep.repeats.max(1);
    let mut allocator = SpanAllocator::default();
    let mut place = |bytes: &Vec<u8>| allocator.allocate(bytes.len() as u64);
    let blocks: Vec<u8> = plan.blocks.iter().flat_map(|word| word.to_le_bytes()).collect();
    let parts = [&blocks, &plan.fields].map(|bytes| (place(bytes), bytes));
    let runs = allocator.allocate((RUN_BYTES * sweep.runs.len()) as u64);
    let fixed = allocator.allocate(cache.len() - kept);
    let result_bytes = 4 * RESULT_WORDS * sweep.runs.len() * repeats as usize;
    let outputs = plan.outputs_of(sweep);
    let memories: u64 = outputs.iter().map(|run| run.bytes as u64).sum();
    let records = allocator.allocate((PROGRESS_BYTES + result_bytes) as u64 + memories);
    process.shared.reserve(allocator.len(), on_host)?;
    let memory = process.shared.bytes();
    for (span, bytes) in parts {
        span.of_mut(memory).ok_or_else(protocol_error)?.copy_from_slice(bytes);
    }
    let places = runs.of_mut(memory).ok_or_else(protocol_error)?.as_chunks_mut::<4>().0.as_chunks_mut::<3>().0;
    for (to, run) in places.iter_mut().zip(sweep.runs) {
        *to = [run.launch, run.words[0], run.words[1]].map(u32::to_le_bytes);
    }
    cache.write(kept, fixed.of_mut(memory).ok_or_else(protocol_error)?);
    records.of_mut(memory).ok_or_else(protocol_error)?[..PROGRESS_BYTES].fill(0);
    let [blocks, fields] = parts.map(|(span, _)| span);
    let joint = protocol::Joint {
        args: plan.args,
        local: plan.local,
        arena,
        kept,
        fixed,
        blocks,
        block_words: sweep.values.words,
        launches: plan.launches,
        fields,
        runs,
        count: u32::try_from(sweep.runs.len()).map_err(|_| protocol_error())?,
        repeats,
        most_runs: sweep.most_runs.min(sweep.runs.len() as u32).max(1),
        memories: sweep.outputs,
        records,
    };
    let request = Request::Joint { program: program.0, memory: process.shared.len(), joint: Box::new(joint) };
    drop(process.take_stdout());
    let running =
        Running { runs: sweep.runs.len(), result_bytes, records, limit: sweep.timeout, kept: cache.kept(), outputs };
    let sent = process.send(&request);
    executor.pending_sweep = Some(match sent {
        Ok(()) => PendingSweep::Running(running),
        Err(silence) => {
            executor.restart();
            PendingSweep::Lost(fault_of(silence, sweep.timeout))
        }
    });
    Ok(())
}

/// Waits for the joint sweep in flight; see [`Executor::finish_jointly`](crate::exec::Executor::finish_jointly).
pub fn finish(executor: &mut OpenClExecutor) -> Result<JointOutcome> {
    let running = match executor.pending_sweep.take() {
        None => return Err(Error::internal("no joint sweep is in flight")),
        Some(PendingSweep::Lost(fault)) => return Ok(JointOutcome::Lost(fault)),
        Some(PendingSweep::Running(running)) => running,
    };
    let (operation_timeout, limit) = (executor.operation_timeout(), running.limit);
    let process = executor.busy()?;
    let mut seen = (0, Instant::now());
    let interval = (limit / 8).clamp(Duration::from_millis(1), Duration::from_millis(50));
    let reply = process.watch(interval, |shared| {
        let words = running.records.of_mut(shared.bytes()).and_then(ProgressWords::of);
        let steps = words.map_or(0, |clock| clock.read().steps);
        if steps != seen.0 {
            seen = (steps, Instant::now());
        }
        seen.1.elapsed() > if steps % 2 == 1 { limit } else { operation_timeout }
    });
    drop(process.take_stdout());
    let outcome = match reply {
        Ok(Reply::Swept { kernel_times }) => {
            process.kept = running.kept;
            running.read(&mut process.shared, &kernel_times)?
        }
        Ok(Reply::Rejected { error, explanation }) => JointOutcome::Lost(Fault::Rejected { error, explanation }),
        Ok(Reply::Stopped { error } | Reply::Lost { error }) => {
            executor.restart();
            return Ok(JointOutcome::Lost(Fault::Stopped { error }));
        }
        Ok(Reply::Broken { what, .. }) => return Err(Error::internal(what)),
        Ok(_) => return Err(protocol_error()),
        Err(silence) => {
            executor.restart();
            return Ok(JointOutcome::Lost(fault_of(silence, limit)));
        }
    };
    process.shared.trim();
    Ok(outcome)
}

fn fault_of(silence: NoReply, limit: Duration) -> Fault {
    match silence {
        NoReply::Timeout => Fault::Timeout { limit },
        NoReply::Dead(WorkerExit { signal, exit_code, stderr }) => Fault::Crash { signal, exit_code, stderr },
    }
}

/// Where everything lies, and what is compared.
struct Plan {
    args: Vec<JointArg>,
    local: [u64; 3],
    /// The blocks of parameters of all launches, with the addresses of buffers.
    blocks: Vec<u32>,
    launches: Vec<protocol::JointLaunch>,
    /// [`Field`]s.
    fields: Vec<u8>,
    /// By launch, the arguments that lie in the memory of a run: position, where, and length in bytes.
    outputs: Vec<Vec<(u32, usize, usize)>>,
}

/// Where a buffer of a launch lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the memory of each run, at this distance.
    InRun(u64),
    /// In the arena, for all runs.
    Shared(u64),
    Null,
}

impl Plan {
    /// Makes a plan, and places what the arena keeps.
    fn new(sweep: &JointSweep<'_>, cache: &mut ArenaCache) -> Result<Plan> {
        let wrong = |what: &str| Error::internal(format!("a joint sweep cannot be run: {what}"));
        let first = sweep.launches.first().ok_or_else(|| wrong("it has no launches"))?;
        let local = first.launch.range.decided().local;
        if sweep.runs.iter().any(|run| run.launch as usize >= sweep.launches.len()) {
            return Err(wrong("a run is of a launch that it does not have"));
        }
        let mut plan = Plan {
            args: args(sweep),
            local,
            blocks: Vec::new(),
            launches: Vec::new(),
            fields: Vec::new(),
            outputs: Vec::new(),
        };
        for one in sweep.launches {
            if let Some(why) = joint::cannot_join(one.launch, one.references) {
                return Err(wrong(&why));
            }
            if one.launch.range.decided().local != local || one.block.len() != sweep.values.words as usize {
                return Err(wrong("its launches do not fit together"));
            }
            plan.add(sweep, one, cache);
        }
        Ok(plan)
    }

    /// Adds a launch.
    fn add(&mut self, sweep: &JointSweep<'_>, one: &JointLaunch<'_>, cache: &mut ArenaCache) {
        let launch = one.launch;
        let is_written = |position: u32| {
            let written = |p: u32| sweep.written.get(p as usize).copied().unwrap_or(true);
            (0..launch.args.len() as u32).any(|p| launch.owner(p) == position && written(p))
        };
        let mut places = vec![None; launch.args.len()];
        let (mut memory, mut begins): (u64, Vec<&Bytes>) = (0, Vec::new());
        for (position, value) in (0..).zip(&launch.args) {
            let ArgValue::Buffer(bytes) = value else { continue };
            let is_output = one.references.iter().any(|r| r.position == position);
            places[position as usize] = Some(if bytes.is_empty() {
                Place::Null
            } else if is_written(position) || is_output {
                begins.push(bytes);
                let at = memory;
                memory = (at + bytes.len() as u64).next_multiple_of(ALIGNMENT);
                Place::InRun(at)
            } else {
                Place::Shared(cache.place(&[bytes]))
            });
        }
        let outputs =
            (0..).zip(&launch.args).zip(&places).filter_map(|((position, value), place)| match (value, place) {
                (ArgValue::Buffer(bytes), Some(Place::InRun(at))) => Some((position, *at as usize, bytes.len())),
                _ => None,
            });
        self.outputs.push(outputs.collect());
        let pristine = cache.place(&begins);
        let mut block = one.block.clone();
        for position in 0..launch.args.len() as u32 {
            let Some(place) = places[launch.owner(position) as usize] else { continue };
            let address = match place {
                Place::InRun(at) => at | parameters::REPLICATED,
                Place::Shared(at) => at,
                Place::Null => parameters::NULL,
            };
            let at = (argument(position) + parameters::ADDRESS) as usize;
            block[at] = address as u32;
            block[at + 1] = (address >> 32) as u32;
        }
        self.blocks.extend(block);
        let begin = self.fields.len() / size_of::<Field>();
        for (number, reference) in (0..).zip(one.references) {
            if let Some(Place::InRun(at)) = places[reference.position as usize] {
                let expected = cache.place(&[&reference.bytes]);
                fields(number, reference, at, expected).iter().for_each(|field| field.write(&mut self.fields));
            }
        }
        let end = self.fields.len() / size_of::<Field>();
        self.launches.push(protocol::JointLaunch {
            groups: launch.range.groups() as u32,
            pristine,
            memory,
            fields: (begin as u32, (end - begin) as u32),
        });
    }

    /// The outputs of all runs, if they are wanted.
    fn outputs_of(&self, sweep: &JointSweep<'_>) -> Vec<RunOutputs> {
        let shared: Vec<Arc<[(u32, usize, usize)]>> = self.outputs.iter().map(|of| of[..].into()).collect();
        let of = |run: &JointRun| RunOutputs {
            bytes: self.memory_of(run) as usize,
            of: shared[run.launch as usize].clone(),
        };
        sweep.runs.iter().filter(|_| sweep.outputs).map(of).collect()
    }

    /// Bytes of the memory of a run.
    fn memory_of(&self, run: &JointRun) -> u64 {
        self.launches[run.launch as usize].memory
    }

    /// Returns how many bytes the arena gets; the fault if the device has not enough memory for a single run.
    /// `fixed`: bytes that it keeps.
    fn arena(&self, sweep: &JointSweep<'_>, fixed: u64, device: &DeviceInfo) -> std::result::Result<u64, Fault> {
        let memory_of = |run: &JointRun| self.memory_of(run);
        let largest = sweep.runs.iter().map(memory_of).max().unwrap_or(0);
        let all = sweep.runs.iter().map(memory_of).fold(0_u64, u64::saturating_add);
        // No launch of the device has more runs than this, whichever they are.
        let wanted = all.min(largest.saturating_mul(u64::from(sweep.most_runs)));
        let limit = |most: u64| if most == 0 { u64::MAX } else { most };
        let most = limit(device.global_memory / MEMORY_DIVISOR).min(MOST_MEMORY).min(limit(device.max_allocation));
        let total = fixed.saturating_add(wanted.min(most.saturating_sub(fixed)).max(largest));
        if total > limit(device.max_allocation) {
            let explanation = format!("{total} bytes are needed, the device gives at most {}", device.max_allocation);
            return Err(Fault::Rejected { error: "CL_INVALID_BUFFER_SIZE".to_owned(), explanation });
        }
        Ok(total.max(ALIGNMENT))
    }
}

/// The arguments of the kernel. Local memory is as large as the launch needs that needs most.
fn args(sweep: &JointSweep<'_>) -> Vec<JointArg> {
    let count = sweep.launches.first().map_or(0, |one| one.launch.args.len());
    let argument = |position: usize| {
        let values = || sweep.launches.iter().filter_map(|one| one.launch.args.get(position));
        let most = |size: fn(&ArgValue) -> Option<u64>| values().filter_map(size).max();
        let local = most(|value| if let ArgValue::Local(bytes) = value { Some(*bytes) } else { None });
        let value = most(|value| if let ArgValue::Value(bytes) = value { Some(bytes.len() as u64) } else { None });
        local.map(JointArg::Local).or(value.map(JointArg::Value)).unwrap_or(JointArg::Arena)
    };
    (0..count).map(argument).collect()
}

/// `field_t` of `runtime-cl/joint_runs.cl`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
struct Field {
    at: u64,
    expected: u64,
    stride: u64,
    count: u64,
    abs: f64,
    rel: f64,
    kind: u32,
    leaf: u32,
}

impl Field {
    fn write(&self, to: &mut Vec<u8>) {
        for word in [self.at, self.expected, self.stride, self.count, self.abs.to_bits(), self.rel.to_bits()] {
            to.extend(word.to_le_bytes());
        }
        to.extend(self.kind.to_le_bytes());
        to.extend(self.leaf.to_le_bytes());
    }
}

/// What is compared of an output: `at` and `expected` are where it and its expected contents begin.
fn fields(number: u32, reference: &Reference, at: u64, expected: u64) -> Vec<Field> {
    let bytes = reference.bytes.len() as u64;
    let field = |offset: u64, scalar: Scalar, stride: u64, leaf: u32| Field {
        at: at + offset,
        expected: expected + offset,
        stride,
        count: bytes / stride.max(1),
        abs: reference.tolerance.abs,
        rel: reference.tolerance.rel,
        kind: kind(scalar),
        leaf: number << LEAF_BITS | leaf,
    };
    let dense = match &reference.ty {
        None => Some(Scalar::U8),
        Some(ty) => scalar_layout::dense_scalar(ty),
    };
    match (dense, &reference.ty) {
        (Some(scalar), _) => vec![field(0, scalar, scalar.size(), 0)],
        (None, Some(ty)) => {
            let leaves = scalar_layout::leaves_through_unions(ty);
            (0..).zip(&leaves).map(|(i, leaf)| field(leaf.offset, leaf.scalar, ty.size(), i)).collect()
        }
        (None, None) => Vec::new(),
    }
}

/// The number of a kind of scalars in `runtime-cl/joint_runs.cl`.
fn kind(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::F16 => 4,
        Scalar::F32 => 5,
        Scalar::F64 => 6,
        other => other.size().trailing_zeros(),
    }
}
