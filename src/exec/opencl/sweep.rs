//! The parent's side of sweeps: sends variations to the worker in pieces, watches its progress, and finds the variation
//! to blame if the worker dies or hangs.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::executor::{OpenClExecutor, nonsense};
use super::launch_request::Layout;
use super::limits;
use super::process::{Death, Silence};
use crate::error::{Error, Result};
use crate::exec::memory::Span;
use crate::exec::protocol::{self, Expected, Reply, Request};
use crate::exec::records::{Clock, Progress, Records};
use crate::exec::{Batch, Executor, Fault, ProgramId, RunOptions, Sweep, SweepOutcome, Swept};
use crate::suite::launch::{ArgValue, Launch};

/// Limits for one request: approximate bytes of its records, and number of its variations.
const MOST_RECORDS: usize = 32 << 20;
const MOST_VARIATIONS: usize = 1 << 16;

/// The copies of all slots together take at most 1 / `SHARE_OF_MEMORY` of the device's memory.
const SHARE_OF_MEMORY: u64 = 4;
/// Nor do they take more bytes than this: a CPU device shares its memory with every process, and more slots of large
/// buffers are no faster.
const MOST_COPIED: u64 = 256 << 20;

/// Runs a sweep; see [`Executor::sweep`].
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
    if let Some(fault) = limits::refuse(executor.device(), sweep.launch, &options) {
        let runs = vec![Swept::Fault(fault); count];
        return Ok(SweepOutcome { runs, launches: 0, kernel_time: Duration::ZERO });
    }
    let records = Records { repeats: sweep.repeats.max(1), words: sweep.words.end.saturating_sub(sweep.words.start) };
    let slots = slots(executor, sweep);
    let mut hunt = SweepRun {
        executor,
        program,
        sweep,
        read_only,
        records,
        slots,
        runs: vec![None; count],
        launches: 0,
        times: Vec::new(),
        worker: Worker::Used,
        since: 0,
    };
    hunt.all()?;
    let SweepRun { runs, launches, mut times, .. } = hunt;
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
    let device = executor.device();
    let largest = batch.strides.iter().copied().max().unwrap_or(0);
    let total = batch.strides.iter().fold(0_u64, |sum, stride| sum.saturating_add(*stride));
    let cap = |memory: u64, stride: u64| if memory == 0 || stride == 0 { u64::MAX } else { (memory / stride).max(1) };
    let most = cap(device.max_allocation, largest)
        .min(cap(device.global_memory / SHARE_OF_MEMORY, total))
        .min(cap(MOST_COPIED, total));
    usize::try_from(u64::from(batch.slots).min(most)).unwrap_or(1).max(1)
}

/// What the worker has run so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worker {
    /// Possibly launches from before the sweep.
    Used,
    /// Nothing.
    Fresh,
    /// Only launches of this sweep, beginning with variation [`SweepRun::since`].
    Ours,
}

/// How a request ended.
#[derive(Debug)]
enum End {
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
    runs: Vec<Option<Swept>>,
    launches: u64,
    /// Nanoseconds, of some of the launches.
    times: Vec<u64>,
    worker: Worker,
    /// The first variation that the worker may have run.
    since: usize,
}

impl SweepRun<'_, '_> {
    fn all(&mut self) -> Result<()> {
        let count = self.runs.len();
        let piece = (MOST_RECORDS / self.records.stride()).clamp(1, MOST_VARIATIONS).next_multiple_of(self.slots);
        let (mut next, mut stillborn) = (0, false);
        while next < count {
            let end = count.min(next + piece);
            match self.attempt(next..end, true)? {
                End::Done => next = end,
                End::Rejected(fault) => {
                    self.mark(next..count, &fault);
                    return Ok(());
                }
                End::Lost(fault, Some(suspects)) => next = self.settle(suspects, fault)?,
                // It died while preparing. An earlier launch may be to blame for that, but only once.
                End::Lost(_, None) if !stillborn => {
                    stillborn = true;
                    self.worker = Worker::Fresh;
                }
                End::Lost(fault, None) => {
                    self.mark(next..count, &fault);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Stores `fault` for those variations in `range` that have no result yet.
    fn mark(&mut self, range: Range<usize>, fault: &Fault) {
        for run in self.runs[range].iter_mut().filter(|r| r.is_none()) {
            *run = Some(Swept::Fault(fault.clone()));
        }
    }

    /// Makes sure that the next request goes to a worker that has run nothing.
    fn renew(&mut self) {
        if self.worker != Worker::Fresh {
            self.executor.restart();
            self.worker = Worker::Fresh;
        }
    }

    /// Finds out which of the variations that ran when the worker was lost is to blame, or which earlier one. Returns
    /// the variation to continue with.
    fn settle(&mut self, suspects: Range<usize>, fault: Fault) -> Result<usize> {
        // `attempt` has replaced the worker; this is where the dead one began.
        let since = self.since;
        let alone = suspects.len() == 1 && since == suspects.start;
        if alone && self.worker == Worker::Ours {
            self.mark(suspects.clone(), &fault);
            self.worker = Worker::Fresh;
            return Ok(suspects.end);
        }
        self.worker = Worker::Fresh;
        if self.isolate(suspects.clone())? || since == suspects.start {
            return Ok(suspects.end);
        }
        // They pass by themselves: did an earlier one corrupt the worker for them?
        let Some((guilty, fault)) = self.spoiler(since..suspects.start, suspects.end)? else {
            return Ok(suspects.end);
        };
        self.runs[guilty..suspects.end].fill(None);
        self.mark(guilty..guilty + 1, &fault);
        self.renew();
        Ok(guilty + 1)
    }

    /// Runs variations in fresh workers, halving the range when one is lost, and keeps their results. Returns whether
    /// one of them faulted when it ran alone.
    fn isolate(&mut self, range: Range<usize>) -> Result<bool> {
        self.renew();
        match self.attempt(range.clone(), true)? {
            End::Done => Ok(false),
            End::Rejected(fault) => {
                self.mark(range, &fault);
                Ok(true)
            }
            End::Lost(fault, _) => {
                self.worker = Worker::Fresh;
                if range.len() <= 1 {
                    self.mark(range, &fault);
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
    fn spoiler(&mut self, before: Range<usize>, end: usize) -> Result<Option<(usize, Fault)>> {
        let (mut low, mut high) = (before.start, before.end);
        let mut fault = None;
        let mut from = low;
        loop {
            self.renew();
            match self.attempt(from..end, false)? {
                End::Lost(seen, _) => {
                    self.worker = Worker::Fresh;
                    fault = Some(seen);
                    low = from;
                }
                End::Done | End::Rejected(_) if fault.is_none() => return Ok(None),
                End::Done | End::Rejected(_) => high = from,
            }
            if low + 1 >= high {
                return Ok(fault.map(|f| (low, f)));
            }
            from = low + (high - low) / 2;
        }
    }

    /// Runs these variations in the worker; `keep`: stores the results of all that were finished. Replaces a lost
    /// worker, but leaves [`SweepRun::worker`] as it was when the worker was lost.
    fn attempt(&mut self, range: Range<usize>, keep: bool) -> Result<End> {
        if self.worker == Worker::Fresh {
            self.worker = Worker::Ours;
            self.since = range.start;
        }
        let (patience, limit) = (self.executor.patience(), self.sweep.timeout);
        let (read_only, records) = (self.read_only.clone(), self.records);
        let slots = self.slots.min(range.len().max(1));
        let process = self.executor.ready(Some(self.program.0))?;
        let (request, place) = {
            let (layout, sweep) = lay_out(self.sweep, range.clone(), slots, read_only, records)?;
            let place = sweep.records;
            process.shared.reserve(layout.layout.plan.len(), layout.besides)?;
            let memory = process.shared.bytes();
            layout.layout.write(memory)?;
            layout.variations.of_mut(memory).ok_or_else(nonsense)?.copy_from_slice(&layout.changes);
            records.clear(place.of_mut(memory).ok_or_else(nonsense)?, range.len());
            let (program, memory) = (self.program.0, process.shared.len());
            (Request::Sweep { program, memory, sweep: Box::new(sweep) }, place)
        };
        drop(process.printed());
        let mut seen = (0, Instant::now());
        let interval = (limit / 8).clamp(Duration::from_millis(1), Duration::from_millis(50));
        let reply = process.watch(&request, interval, |shared| {
            let steps = place.of_mut(shared.bytes()).and_then(Clock::of).map_or(0, |clock| clock.read().steps);
            if steps != seen.0 {
                seen = (steps, Instant::now());
            }
            seen.1.elapsed() > if steps % 2 == 1 { limit } else { patience }
        });
        drop(process.printed());
        let memory = place.of_mut(process.shared.bytes()).ok_or_else(nonsense)?;
        let progress = Clock::of(memory).ok_or_else(nonsense)?.read();
        self.launches += progress.steps.div_ceil(2);
        if keep {
            for (index, run) in self.runs[range.clone()].iter_mut().enumerate() {
                if let Some(runs) = records.read(memory, index) {
                    *run = Some(Swept::Ran(runs));
                }
            }
        }
        let end = match reply {
            Ok(Reply::Swept { kernel_times }) => {
                self.times.extend(kernel_times);
                End::Done
            }
            Ok(Reply::Rejected { error, explanation }) => End::Rejected(Fault::Rejected { error, explanation }),
            Ok(Reply::Broken { what, .. }) => return Err(Error::internal(what)),
            Ok(_) => return Err(nonsense()),
            Err(Silence::Timeout) => End::Lost(Fault::Timeout { limit }, running(progress, &range)),
            Err(Silence::Dead(Death { signal, exit_code, stderr })) => {
                End::Lost(Fault::Crash { signal, exit_code, stderr }, running(progress, &range))
            }
        };
        if let End::Lost(..) = end {
            self.executor.restart();
        } else {
            process.shared.relax();
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
struct LaidOut<'a> {
    layout: Layout<'a>,
    variations: Span,
    changes: Vec<u8>,
    /// Bytes that the worker takes for copies of its own.
    besides: u64,
}

fn lay_out<'a>(
    sweep: &'a Sweep<'_>,
    range: Range<usize>,
    slots: usize,
    read_only: Vec<bool>,
    records: Records,
) -> Result<(LaidOut<'a>, protocol::Sweep)> {
    let mut layout = Layout::default();
    let args = sweep.launch.args.iter().map(|value| layout.arg(value)).collect();
    let references: Vec<(u32, Span)> = sweep.references.iter().map(|r| (r.position, layout.place(&r.bytes))).collect();
    let copies = sweep.batch.as_ref().map_or(0, |b| b.strides.iter().fold(0_u64, |n, s| n.saturating_add(*s)));
    let besides = layout.plan.len().saturating_add(copies.saturating_mul(slots as u64));
    let variations = &sweep.variations[range];
    let (mut starts, mut pairs) = (Vec::with_capacity(variations.len() + 1), Vec::new());
    for variation in variations {
        starts.push(pairs.len() as u32 / 2);
        pairs.extend(variation.words.iter().flat_map(|(index, value)| [*index, *value]));
    }
    starts.push(pairs.len() as u32 / 2);
    let changes: Vec<u8> = starts.into_iter().chain(pairs).flat_map(u32::to_le_bytes).collect();
    let probe = layout.plan.place(4 * sweep.probe.len() as u64);
    let changes_at = layout.plan.place(changes.len() as u64);
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
    let records_at = layout.plan.place(records.bytes(variations.len()) as u64);
    let message = protocol::Sweep {
        range: sweep.launch.range.clone(),
        args,
        read_only,
        probe,
        probe_words: sweep.probe_words,
        variations: changes_at,
        count: u32::try_from(variations.len()).map_err(|_| nonsense())?,
        expected,
        repeats: records.repeats,
        words: (sweep.words.start, sweep.words.end.max(sweep.words.start)),
        batch: sweep.batch.as_ref().map(|b| Batch { slots: slots as u32, ..b.clone() }),
        records: records_at,
    };
    // The head of the probe buffer is copied together with the variations, which lie directly after it.
    let begin = usize::try_from(changes_at.start - probe.start).map_err(|_| nonsense())?;
    let mut all: Vec<u8> = sweep.probe.iter().flat_map(|w| w.to_le_bytes()).collect();
    all.resize(begin, 0);
    all.extend(changes);
    let variations = Span { start: probe.start, len: all.len() as u64 };
    Ok((LaidOut { layout, variations, changes: all, besides }, message))
}
