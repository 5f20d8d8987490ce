//! The parent's side of sweeps: sends variations to the worker in pieces, watches its progress, and finds the variation
//! to blame if the worker dies or hangs.

use std::ops::Range;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_suite::launch::{ArgValue, Launch};

use super::launch_request::Layout;
use super::limits;
use super::process::{NoReply, WorkerExit};
use super::supervisor::OpenClExecutor;
use crate::exec::memory::Span;
use crate::exec::protocol::{self, Expected, Reply, Request, protocol_error};
use crate::exec::records::{Progress, ProgressWords, Records};
use crate::exec::{Batch, Fault, ProgramId, RunOptions, Sweep, SweepOutcome, VariationOutcome};

/// Limits for one request: approximate bytes of its records, and number of its variations.
const MAX_RECORD_BYTES: usize = 32 << 20;
const MAX_VARIATIONS: usize = 1 << 16;

/// The copies of all slots together take at most 1 / `MEMORY_DIVISOR` of the device's memory.
const MEMORY_DIVISOR: u64 = 4;
/// Nor do they take more bytes than this: a CPU device shares its memory with every process, and more slots of large
/// buffers are no faster.
const MAX_COPIED_BYTES: u64 = 256 << 20;

/// Runs a sweep; see [`Executor::sweep`](crate::exec::Executor::sweep).
pub fn run(executor: &mut OpenClExecutor, program: ProgramId, sweep: &Sweep<'_>) -> Result<SweepOutcome> {
    let read_only = executor.read_only(program)?.to_vec();
    check(sweep, &read_only)?;
    let options = RunOptions {
        timeout: sweep.timeout,
        // Pristine copies are kept beside the working ones.
        repeats: 2,
        probe_words: Some(sweep.probe_words),
        outputs: false,
    };
    let count = sweep.variations.len();
    if let Some(fault) = limits::refuse(executor.info(), sweep.launch, &options) {
        let runs = vec![VariationOutcome::Fault(fault); count];
        return Ok(SweepOutcome { runs, launches: 0, kernel_time: Duration::ZERO });
    }
    let records = Records { repeats: sweep.repeats.max(1), words: sweep.words.end.saturating_sub(sweep.words.start) };
    let slots = slots(executor, sweep);
    let mut sweep_run = SweepRun {
        executor,
        program,
        sweep,
        read_only,
        records,
        slots,
        runs: vec![None; count],
        launches: 0,
        times: Vec::new(),
        worker: WorkerHistory::Unknown,
        first_on_worker: 0,
    };
    sweep_run.run_all()?;
    let SweepRun { runs, launches, mut times, .. } = sweep_run;
    times.sort_unstable();
    let runs = runs
        .into_iter()
        .map(|r| r.ok_or_else(|| Error::internal("a variation of a sweep was left out")))
        .collect::<Result<_>>()?;
    let kernel_time = Duration::from_nanos(times.get(times.len() / 2).copied().unwrap_or(0));
    Ok(SweepOutcome { runs, launches, kernel_time })
}

/// Why this launch cannot hold several runs; `None` if it can, provided that its kernel is instrumented for it.
/// Images cannot be replicated, so none may be writable; and the launch must state a work-group size that divides the
/// global size.
///
/// `read_only`: by position, which arguments the kernel cannot write.
pub fn cannot_batch(launch: &Launch, read_only: impl Fn(u32) -> bool) -> Option<String> {
    let range = &launch.range;
    let Some(local) = range.local else { return Some("its work-group size is left to the driver".to_owned()) };
    if (0..3).any(|d| local[d] == 0 || range.global[d] == 0 || !range.global[d].is_multiple_of(local[d])) {
        return Some("its work-groups are not all of one size".to_owned());
    }
    (0..).zip(&launch.args).find_map(|(position, arg)| match arg {
        ArgValue::Image { .. } if !read_only(position) => {
            Some(format!("argument {position} is an image that the kernel may write"))
        }
        ArgValue::Buffer(_) | ArgValue::Same(_) if !launch.view(position).is_whole() => {
            Some(format!("argument {position} is a part of a buffer"))
        }
        _ => None,
    })
}

/// Checks a sweep for consistency; an inconsistent one is kassay's own fault.
fn check(sweep: &Sweep<'_>, read_only: &[bool]) -> Result<()> {
    let wrong = |what: String| Err(Error::internal(format!("a sweep cannot be run: {what}")));
    if sweep.probe.len() as u64 > sweep.probe_words {
        return wrong("the probe buffer is shorter than its beginning".into());
    }
    if sweep.words.start > sweep.words.end {
        return wrong("the range of probe words ends before it begins".into());
    }
    let (first, slot) = match &sweep.batch {
        Some(b) => (u64::from(b.first_word), u64::from(b.slot_words)),
        None => (0, sweep.probe_words),
    };
    let slots = sweep.batch.as_ref().map_or(1, |b| u64::from(b.slots.max(1)));
    if first + slot * slots > sweep.probe_words || u64::from(sweep.words.end) > slot {
        return wrong("a slot's words lie outside the probe buffer".into());
    }
    if let Some((index, _)) =
        sweep.variations.iter().flat_map(|v| &v.words).find(|(index, _)| u64::from(*index) >= slot)
    {
        return wrong(format!("word {index} lies outside the probe buffer"));
    }
    if let Some(r) = sweep.references.iter().find(|r| {
        !matches!(sweep.launch.args.get(r.position as usize), Some(ArgValue::Buffer(_) | ArgValue::Image { .. }))
    }) {
        return wrong(format!("argument {} has no contents to compare", r.position));
    }
    let Some(batch) = &sweep.batch else { return Ok(()) };
    if let Some(why) = cannot_batch(sweep.launch, |p| read_only.get(p as usize).copied().unwrap_or(false)) {
        return wrong(format!("several runs in one launch: {why}"));
    }
    if batch.dimension >= sweep.launch.range.dims as usize {
        return wrong(format!("the launch has no dimension {}", batch.dimension));
    }
    for (position, stride) in (0..).zip(&batch.strides) {
        let fits = match sweep.launch.value(position) {
            Some(ArgValue::Buffer(bytes)) => *stride == 0 || *stride >= bytes.len() as u64,
            _ => *stride == 0,
        };
        if !fits {
            return wrong(format!("the stride of argument {position}, {stride} bytes, is shorter than its contents"));
        }
    }
    Ok(())
}

/// Slots per launch: the requested number, as far as the device has memory for their copies.
fn slots(executor: &OpenClExecutor, sweep: &Sweep<'_>) -> usize {
    let Some(batch) = &sweep.batch else { return 1 };
    let device = executor.info();
    let largest = batch.strides.iter().copied().max().unwrap_or(0);
    let total = batch.strides.iter().fold(0_u64, |sum, stride| sum.saturating_add(*stride));
    let cap = |memory: u64, stride: u64| if memory == 0 || stride == 0 { u64::MAX } else { (memory / stride).max(1) };
    let most = cap(device.max_allocation, largest)
        .min(cap(device.global_memory / MEMORY_DIVISOR, total))
        .min(cap(MAX_COPIED_BYTES, total));
    usize::try_from(u64::from(batch.slots).min(most)).unwrap_or(1).max(1)
}

/// What the worker has run so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkerHistory {
    /// Possibly launches from before the sweep.
    Unknown,
    /// Nothing.
    Fresh,
    /// Only launches of this sweep, beginning with variation [`SweepRun::first_on_worker`].
    ThisSweep,
}

/// How a request ended.
#[derive(Debug)]
enum RequestEnd {
    Done,
    /// The driver refuses these launches.
    Rejected(Fault),
    /// The worker is gone; with the variations that it was running, if it had got that far.
    Lost(Fault, Option<Range<usize>>),
}

/// The state of a sweep.
struct SweepRun<'a, 'b> {
    executor: &'a mut OpenClExecutor,
    program: ProgramId,
    sweep: &'a Sweep<'b>,
    read_only: Vec<bool>,
    records: Records,
    slots: usize,
    runs: Vec<Option<VariationOutcome>>,
    launches: u64,
    /// Nanoseconds, of some of the launches.
    times: Vec<u64>,
    worker: WorkerHistory,
    /// The first variation that the worker may have run.
    first_on_worker: usize,
}

impl SweepRun<'_, '_> {
    fn run_all(&mut self) -> Result<()> {
        let count = self.runs.len();
        let piece = (MAX_RECORD_BYTES / self.records.stride()).clamp(1, MAX_VARIATIONS).next_multiple_of(self.slots);
        let (mut next, mut died_preparing) = (0, false);
        while next < count {
            let end = count.min(next + piece);
            match self.attempt(next..end, true)? {
                RequestEnd::Done => next = end,
                RequestEnd::Rejected(fault) => {
                    self.mark_faulted(next..count, &fault);
                    return Ok(());
                }
                RequestEnd::Lost(fault, Some(suspects)) => next = self.find_culprit(suspects, fault)?,
                // It died while preparing. An earlier launch may be to blame for that, but only once.
                RequestEnd::Lost(_, None) if !died_preparing => {
                    died_preparing = true;
                    self.worker = WorkerHistory::Fresh;
                }
                RequestEnd::Lost(fault, None) => {
                    self.mark_faulted(next..count, &fault);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Stores `fault` for those variations in `range` that have no result yet.
    fn mark_faulted(&mut self, range: Range<usize>, fault: &Fault) {
        for run in self.runs[range].iter_mut().filter(|r| r.is_none()) {
            *run = Some(VariationOutcome::Fault(fault.clone()));
        }
    }

    /// Makes sure that the next request goes to a worker that has run nothing.
    fn ensure_fresh_worker(&mut self) {
        if self.worker != WorkerHistory::Fresh {
            self.executor.restart();
            self.worker = WorkerHistory::Fresh;
        }
    }

    /// Finds out which of the variations that ran when the worker was lost is to blame, or which earlier one. Returns
    /// the variation to continue with.
    fn find_culprit(&mut self, suspects: Range<usize>, fault: Fault) -> Result<usize> {
        // `attempt` has replaced the worker; this is where the dead one began.
        let first_on_worker = self.first_on_worker;
        let alone = suspects.len() == 1 && first_on_worker == suspects.start;
        if alone && self.worker == WorkerHistory::ThisSweep {
            self.mark_faulted(suspects.clone(), &fault);
            self.worker = WorkerHistory::Fresh;
            return Ok(suspects.end);
        }
        self.worker = WorkerHistory::Fresh;
        if self.isolate(suspects.clone())? || first_on_worker == suspects.start {
            return Ok(suspects.end);
        }
        // They pass by themselves: did an earlier one corrupt the worker for them?
        let Some((culprit, fault)) = self.find_earlier_culprit(first_on_worker..suspects.start, suspects.end)? else {
            return Ok(suspects.end);
        };
        self.runs[culprit..suspects.end].fill(None);
        self.mark_faulted(culprit..culprit + 1, &fault);
        self.ensure_fresh_worker();
        Ok(culprit + 1)
    }

    /// Runs variations in fresh workers, halving the range when one is lost, and keeps their results. Returns whether
    /// one of them faulted when it ran alone.
    fn isolate(&mut self, range: Range<usize>) -> Result<bool> {
        self.ensure_fresh_worker();
        match self.attempt(range.clone(), true)? {
            RequestEnd::Done => Ok(false),
            RequestEnd::Rejected(fault) => {
                self.mark_faulted(range, &fault);
                Ok(true)
            }
            RequestEnd::Lost(fault, _) => {
                self.worker = WorkerHistory::Fresh;
                if range.len() <= 1 {
                    self.mark_faulted(range, &fault);
                    return Ok(true);
                }
                self.runs[range.clone()].fill(None);
                let middle = range.start + range.len() / 2;
                let first = self.isolate(range.start..middle)?;
                Ok(self.isolate(middle..range.end)? || first)
            }
        }
    }

    /// The last variation among `before` such that a worker that starts with it does not reach `end`, and the fault
    /// that it causes; `None` if a fresh worker runs them all. Found by bisection.
    fn find_earlier_culprit(&mut self, before: Range<usize>, end: usize) -> Result<Option<(usize, Fault)>> {
        let (mut low, mut high) = (before.start, before.end);
        let mut fault = None;
        let mut from = low;
        loop {
            self.ensure_fresh_worker();
            match self.attempt(from..end, false)? {
                RequestEnd::Lost(seen, _) => {
                    self.worker = WorkerHistory::Fresh;
                    fault = Some(seen);
                    low = from;
                }
                RequestEnd::Done | RequestEnd::Rejected(_) if fault.is_none() => return Ok(None),
                RequestEnd::Done | RequestEnd::Rejected(_) => high = from,
            }
            if low + 1 >= high {
                return Ok(fault.map(|f| (low, f)));
            }
            from = low + (high - low) / 2;
        }
    }

    /// Runs these variations in the worker; `keep`: stores the results of all that were finished. Replaces a lost
    /// worker, but leaves [`SweepRun::worker`] as it was when the worker was lost.
    fn attempt(&mut self, range: Range<usize>, keep: bool) -> Result<RequestEnd> {
        if self.worker == WorkerHistory::Fresh {
            self.worker = WorkerHistory::ThisSweep;
            self.first_on_worker = range.start;
        }
        let (operation_timeout, limit) = (self.executor.operation_timeout(), self.sweep.timeout);
        let (read_only, records) = (self.read_only.clone(), self.records);
        let slots = self.slots.min(range.len().max(1));
        self.executor.prepare_spare();
        let process = self.executor.ready(Some(self.program.0))?;
        let (request, place) = {
            let (layout, sweep) = lay_out(self.sweep, range.clone(), slots, read_only, records)?;
            let place = sweep.records;
            process.shared.reserve(layout.layout.allocator.len(), layout.worker_bytes)?;
            let memory = process.shared.bytes();
            layout.layout.write(memory)?;
            layout.variations.of_mut(memory).ok_or_else(protocol_error)?.copy_from_slice(&layout.changes);
            records.clear(place.of_mut(memory).ok_or_else(protocol_error)?, range.len());
            let (program, memory) = (self.program.0, process.shared.len());
            (Request::Sweep { program, memory, sweep: Box::new(sweep) }, place)
        };
        drop(process.take_stdout());
        let mut seen = (0, Instant::now());
        let interval = (limit / 8).clamp(Duration::from_millis(1), Duration::from_millis(50));
        let reply = process.call_watched(&request, interval, |shared| {
            let steps = place.of_mut(shared.bytes()).and_then(ProgressWords::of).map_or(0, |clock| clock.read().steps);
            if steps != seen.0 {
                seen = (steps, Instant::now());
            }
            seen.1.elapsed() > if steps % 2 == 1 { limit } else { operation_timeout }
        });
        drop(process.take_stdout());
        let memory = place.of_mut(process.shared.bytes()).ok_or_else(protocol_error)?;
        let progress = ProgressWords::of(memory).ok_or_else(protocol_error)?.read();
        // No sweep has as many; what a worker wrote may be anything, and is added up.
        self.launches += progress.steps.div_ceil(2).min(u32::MAX.into());
        if keep {
            for (index, run) in self.runs[range.clone()].iter_mut().enumerate() {
                if let Some(runs) = records.read(memory, index) {
                    *run = Some(VariationOutcome::Ran(runs));
                }
            }
        }
        let end = match reply {
            Ok(Reply::Swept { kernel_times }) => {
                self.times.extend(kernel_times);
                RequestEnd::Done
            }
            Ok(Reply::Rejected { error, explanation }) => RequestEnd::Rejected(Fault::Rejected { error, explanation }),
            Ok(Reply::Stopped { error } | Reply::Lost { error }) => {
                RequestEnd::Lost(Fault::Stopped { error }, running(progress, &range))
            }
            Ok(Reply::Broken { what, .. }) => return Err(Error::internal(what)),
            Ok(_) => return Err(protocol_error()),
            Err(NoReply::Timeout) => RequestEnd::Lost(Fault::Timeout { limit }, running(progress, &range)),
            Err(NoReply::Dead(WorkerExit { signal, exit_code, stderr })) => {
                RequestEnd::Lost(Fault::Crash { signal, exit_code, stderr }, running(progress, &range))
            }
        };
        if let RequestEnd::Lost(..) = end {
            self.executor.restart();
        } else {
            process.shared.trim();
        }
        Ok(end)
    }
}

/// The variations that the worker was running last.
fn running(progress: Progress, range: &Range<usize>) -> Option<Range<usize>> {
    if progress.steps == 0 {
        return None;
    }
    let first = range.start.saturating_add(usize::try_from(progress.first).ok()?).min(range.end);
    let last = first.saturating_add(usize::try_from(progress.count).ok()?).min(range.end);
    (first < last).then_some(first..last)
}

/// A sweep's inputs and where they go.
struct SweepLayout<'a> {
    layout: Layout<'a>,
    variations: Span,
    changes: Vec<u8>,
    /// Bytes that the worker takes for copies of its own.
    worker_bytes: u64,
}

fn lay_out<'a>(
    sweep: &'a Sweep<'_>,
    range: Range<usize>,
    slots: usize,
    read_only: Vec<bool>,
    records: Records,
) -> Result<(SweepLayout<'a>, protocol::Sweep)> {
    let mut layout = Layout::default();
    let args = sweep.launch.args.iter().map(|value| layout.arg(value)).collect();
    let references: Vec<(u32, Span)> = sweep.references.iter().map(|r| (r.position, layout.place(&r.bytes))).collect();
    let copies = sweep.batch.as_ref().map_or(0, |b| b.strides.iter().fold(0_u64, |n, s| n.saturating_add(*s)));
    let worker_bytes = layout.allocator.len().saturating_add(copies.saturating_mul(slots as u64));
    let variations = &sweep.variations[range];
    let (mut starts, mut pairs) = (Vec::with_capacity(variations.len() + 1), Vec::new());
    for variation in variations {
        starts.push(pairs.len() as u32 / 2);
        pairs.extend(variation.words.iter().flat_map(|(index, value)| [*index, *value]));
    }
    starts.push(pairs.len() as u32 / 2);
    let changes: Vec<u8> = starts.into_iter().chain(pairs).flat_map(u32::to_le_bytes).collect();
    let probe = layout.allocator.allocate(4 * sweep.probe.len() as u64);
    let changes_at = layout.allocator.allocate(changes.len() as u64);
    let expected = sweep
        .references
        .iter()
        .zip(references)
        .map(|(r, (position, bytes))| Expected {
            position,
            label: r.label.clone(),
            bytes,
            ty: r.ty.clone(),
            tolerance: [r.tolerance.abs.to_bits(), r.tolerance.rel.to_bits()],
        })
        .collect();
    let records_at = layout.allocator.allocate(records.bytes(variations.len()) as u64);
    let message = protocol::Sweep {
        range: sweep.launch.range.clone(),
        args,
        views: sweep.launch.views.clone(),
        read_only,
        probe,
        probe_words: sweep.probe_words,
        variations: changes_at,
        count: u32::try_from(variations.len()).map_err(|_| protocol_error())?,
        expected,
        repeats: records.repeats,
        words: (sweep.words.start, sweep.words.end.max(sweep.words.start)),
        batch: sweep.batch.as_ref().map(|b| Batch { slots: slots as u32, ..b.clone() }),
        records: records_at,
    };
    // The head of the probe buffer is copied together with the variations, which lie directly after it.
    let begin = usize::try_from(changes_at.start - probe.start).map_err(|_| protocol_error())?;
    let mut all: Vec<u8> = sweep.probe.iter().flat_map(|w| w.to_le_bytes()).collect();
    all.resize(begin, 0);
    all.extend(changes);
    let variations = Span { start: probe.start, len: all.len() as u64 };
    Ok((SweepLayout { layout, variations, changes: all, worker_bytes }, message))
}
