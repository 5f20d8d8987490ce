//! Runs a sweep on the device: objects are created once; each run resets what the kernel can write, launches it,
//! and compares the outputs in place. Nothing is created or released between runs, and the queue is waited for once
//! per launch.

use kassay_suite::compare::Tolerance;
use kassay_suite::launch::NdRange;
use opencl3::command_queue as queue;
use opencl3::types::cl_command_queue;

use super::handles::Memory;
use super::launch::{self, ArgResource};
use super::open_device::OpenDevice;
use super::program::LoadedProgram;
use super::refusal::{Refusal, outside};
use super::store::{Probe, Store};
use super::svm::fine_grained;
use crate::exec::difference;
use crate::exec::protocol::{Arg, Expected, Reply, Sweep};
use crate::exec::records::{ProgressWords, Records};

/// The number of launches whose times are reported.
const MAX_TIMED_LAUNCHES: usize = 16;

/// An argument with memory of its own: one that the kernel may write, or that batches replicate.
#[derive(Debug)]
struct SweepArg<'a> {
    store: Store,
    pristine: &'a [u8],
    /// Whether the kernel can write to it.
    written: bool,
    /// Distance in bytes between the slots' copies; 0: all slots share one.
    stride: usize,
    expected: Vec<(&'a Expected, &'a [u8])>,
}

/// The variations, in the form they have in the shared memory.
#[derive(Debug)]
struct Variations<'a> {
    starts: &'a [[u8; 4]],
    pairs: &'a [[u8; 4]],
}

impl<'a> Variations<'a> {
    fn new(bytes: &'a [u8], count: usize) -> Option<Variations<'a>> {
        let (starts, pairs) = bytes.as_chunks::<4>().0.split_at_checked(count + 1)?;
        Some(Variations { starts, pairs })
    }

    fn of(&self, variation: usize) -> impl Iterator<Item = (u32, u32)> {
        let start = |v: usize| self.starts.get(v).map_or(0, |s| u32::from_le_bytes(*s) as usize);
        let pairs = self.pairs.get(2 * start(variation)..2 * start(variation + 1)).unwrap_or_default();
        pairs.as_chunks::<2>().0.iter().map(|[i, v]| (u32::from_le_bytes(*i), u32::from_le_bytes(*v)))
    }
}

/// The position of slots in the probe buffer, in words.
#[derive(Debug, Clone, Copy)]
struct Slots {
    count: usize,
    first: usize,
    words: usize,
}

impl Slots {
    fn start(self, slot: usize) -> usize {
        self.first + slot * self.words
    }
}

/// Runs `sweep`; its inputs lie in `memory` before its records.
pub fn run(open: &OpenDevice, loaded: &LoadedProgram, sweep: &Sweep, memory: &mut [u8]) -> Result<Reply, Refusal> {
    loaded.renew();
    let given = sweep.args.len() + 1;
    if given != loaded.args as usize {
        let explanation = format!("the kernel takes {} arguments, the launch gives {given}", loaded.args);
        return Err(Refusal::new("CL_INVALID_KERNEL_ARGS", explanation));
    }
    let split = usize::try_from(sweep.records.start).map_err(|_| outside())?;
    let (inputs, results) = memory.split_at_mut_checked(split).ok_or_else(outside)?;
    let mut state = SweepState::prepare(open, loaded, sweep, inputs, results)?;
    let ran = state.run();
    // The objects must not be released while the device uses them.
    let finished = queue::finish(open.queue);
    ran.map_err(|refusal| refusal.after(finished, true))?;
    finished.map_err(Refusal::ended)?;
    Ok(Reply::Swept { kernel_times: state.times })
}

struct SweepState<'a> {
    queue: cl_command_queue,
    loaded: &'a LoadedProgram,
    sweep: &'a Sweep,
    range: NdRange,
    sweep_args: Vec<SweepArg<'a>>,
    /// Objects of arguments that are set once, and sub-buffers; kept alive until the end.
    _resources: Vec<ArgResource>,
    _parts: Vec<Memory>,
    probe: Probe,
    probe_head: &'a [u8],
    slots: Slots,
    variations: Variations<'a>,
    records: Records,
    results: &'a mut [u8],
    progress: ProgressWords,
    times: Vec<u64>,
}

impl<'a> SweepState<'a> {
    fn prepare(
        open: &OpenDevice,
        loaded: &'a LoadedProgram,
        sweep: &'a Sweep,
        inputs: &'a [u8],
        results: &'a mut [u8],
    ) -> Result<SweepState<'a>, Refusal> {
        let fine = fine_grained(open.device);
        let slots = match &sweep.batch {
            Some(b) => {
                Slots { count: b.slots.max(1) as usize, first: b.first_word as usize, words: b.slot_words as usize }
            }
            None => Slots { count: 1, first: 0, words: 0 },
        };
        let (mut sweep_args, mut resources): (Vec<SweepArg<'_>>, _) = (Vec::new(), Vec::new());
        let mut parts = Vec::new();
        let view = |position: u32| sweep.views.get(position as usize).copied().unwrap_or_default();
        // By position: the index in `sweep_args` of an argument.
        let mut at: Vec<(u32, usize)> = Vec::new();
        for (position, arg) in (0..).zip(&sweep.args) {
            let read_only = sweep.read_only.get(position as usize).copied().unwrap_or(false);
            let stride = sweep.batch.as_ref().and_then(|b| b.strides.get(position as usize)).copied().unwrap_or(0);
            let stride = usize::try_from(stride).map_err(|_| outside())?;
            let copies = if stride == 0 { 1 } else { slots.count };
            let (store, pristine) = match arg {
                Arg::Buffer(span) if span.len > 0 => {
                    let pristine = launch::bytes(inputs, *span)?;
                    let is_pointed =
                        launch::needs_pointers(&open.context, loaded, (&sweep.args, &sweep.views), position);
                    let store = match is_pointed {
                        true => Store::pointed(&open.context, open.queue, pristine)?,
                        false => Store::buffer(&open.context, fine, pristine, copies, stride)?,
                    };
                    parts.extend(store.set(&open.context, loaded, position, &view(position))?);
                    (store, pristine)
                }
                _ => match launch::set(&open.context, loaded, position, arg, !read_only, inputs)? {
                    ArgResource::Object(object, span) => {
                        let pristine = launch::bytes(inputs, span)?;
                        (Store::Object(object, vec![0; pristine.len()]), pristine)
                    }
                    other => {
                        resources.push(other);
                        continue;
                    }
                },
            };
            let mut expected = Vec::new();
            for e in sweep.expected.iter().filter(|e| e.position == position) {
                expected.push((e, launch::bytes(inputs, e.bytes)?));
            }
            at.push((position, sweep_args.len()));
            sweep_args.push(SweepArg { store, pristine, written: !read_only, stride, expected });
        }
        for (position, arg) in (0..).zip(&sweep.args) {
            if let Arg::Same(other) = arg {
                let shared = at.iter().find(|(p, _)| p == other).and_then(|(_, i)| sweep_args.get_mut(*i));
                match shared {
                    Some(sweep_arg) => {
                        parts.extend(sweep_arg.store.set(&open.context, loaded, position, &view(position))?);
                        sweep_arg.written |= !sweep.read_only.get(position as usize).copied().unwrap_or(false);
                    }
                    None => launch::set_null(loaded, position)?,
                }
            }
        }
        let probe_len = words(sweep.probe_words)?;
        let probe = Probe::new(&open.context, fine, probe_len)?;
        probe.set(loaded, loaded.args - 1)?;
        let probe_head = launch::bytes(inputs, sweep.probe)?;
        let variations = launch::bytes(inputs, sweep.variations)?;
        let variations = Variations::new(variations, sweep.count as usize).ok_or_else(outside)?;
        let (from, to) = sweep.words;
        let last = slots.start(slots.count - 1).saturating_add(to as usize).saturating_mul(4);
        if probe_head.len() > probe_len || last > probe_len || from > to {
            return Err(outside());
        }
        let progress = ProgressWords::of(results).ok_or_else(outside)?;
        Ok(SweepState {
            queue: open.queue,
            loaded,
            sweep,
            range: sweep.range.clone(),
            sweep_args,
            _resources: resources,
            _parts: parts,
            probe,
            probe_head,
            slots,
            variations,
            records: Records { repeats: sweep.repeats, words: to - from },
            results,
            progress,
            times: Vec::new(),
        })
    }

    fn run(&mut self) -> Result<(), Refusal> {
        let count = self.sweep.count as usize;
        let mut first = 0;
        while first < count {
            let together = self.slots.count.min(count - first);
            self.run_together(first, together)?;
            first += together;
        }
        Ok(())
    }

    /// Runs all repeats of `together` variations that share launches.
    fn run_together(&mut self, first: usize, together: usize) -> Result<(), Refusal> {
        // Whether a slot's variation agreed in its last run; `None` if it has not run.
        let mut agreed: Vec<Option<bool>> = vec![None; together];
        let mut live: Vec<bool> = vec![true; together];
        if let Some(batch) = &self.sweep.batch {
            let slots = together as u64;
            self.range.global[batch.dimension] = self.sweep.range.global[batch.dimension] * slots;
        }
        for repeat in 0..self.sweep.repeats {
            self.prepare_launch(first, together)?;
            self.progress.begin(first, together);
            let event = launch::enqueue(self.queue, self.loaded, &self.range)?;
            queue::finish(self.queue).map_err(Refusal::ended)?;
            self.progress.end();
            if self.times.len() < MAX_TIMED_LAUNCHES {
                self.times.push(launch::time(&event)?);
            }
            self.compare_and_record(first, &mut agreed, &mut live)?;
            for (slot, lives) in live.iter_mut().enumerate() {
                if *lives && repeat + 1 == self.sweep.repeats {
                    *lives = false;
                    self.records.finish(self.results, first + slot);
                }
            }
            if !live.contains(&true) {
                break;
            }
        }
        Ok(())
    }

    fn prepare_launch(&mut self, first: usize, together: usize) -> Result<(), Refusal> {
        for sweep_arg in self.sweep_args.iter_mut().filter(|p| p.written) {
            let copies = if sweep_arg.stride == 0 { 1 } else { together };
            sweep_arg.store.reset(self.queue, sweep_arg.pristine, copies, sweep_arg.stride)?;
        }
        let staging = self.probe.staging();
        let (head, rest) = staging.split_at_mut(self.probe_head.len());
        head.copy_from_slice(self.probe_head);
        rest.fill(0);
        let staging = staging.as_chunks_mut::<4>().0;
        for slot in 0..together {
            let start = self.slots.start(slot);
            for (index, value) in self.variations.of(first + slot) {
                let to = staging.get_mut(start.saturating_add(index as usize)).ok_or_else(outside)?;
                *to = value.to_le_bytes();
            }
        }
        self.probe.send(self.queue)
    }

    /// Compares the outputs of a launch and records the results of the slots whose variations still run.
    fn compare_and_record(
        &mut self,
        first: usize,
        agreed: &mut [Option<bool>],
        live: &mut [bool],
    ) -> Result<(), Refusal> {
        let slots = self.slots;
        let mut differences: Vec<Option<String>> = vec![None; live.len()];
        for sweep_arg in self.sweep_args.iter_mut().filter(|p| !p.expected.is_empty()) {
            let contents = sweep_arg.store.contents(self.queue)?;
            for (slot, difference) in differences.iter_mut().enumerate().filter(|(slot, _)| live[*slot]) {
                if difference.is_some() {
                    continue;
                }
                let start = slot * sweep_arg.stride;
                let actual = contents.get(start..start + sweep_arg.pristine.len()).ok_or_else(outside)?;
                *difference = sweep_arg.expected.iter().find_map(|(e, bytes)| differs(e, bytes, actual));
            }
        }
        let (from, to) = self.sweep.words;
        let (start, end) = (slots.start(0) + from as usize, slots.start(live.len() - 1) + to as usize);
        let seen = self.probe.contents(self.queue, 4 * start..4 * end)?.as_chunks::<4>().0;
        let mut asked = Vec::with_capacity((to - from) as usize);
        for (slot, difference) in differences.iter().enumerate() {
            if !live[slot] {
                continue;
            }
            asked.clear();
            let at = slot * slots.words;
            asked.extend(seen[at..at + (to - from) as usize].iter().map(|w| u32::from_le_bytes(*w)));
            self.records.add(self.results, first + slot, difference.as_deref(), &asked);
            let agrees = difference.is_none();
            if agreed[slot].is_some_and(|before| before != agrees) {
                live[slot] = false;
                self.records.finish(self.results, first + slot);
            }
            agreed[slot] = Some(agrees);
        }
        Ok(())
    }
}

fn words(count: u64) -> Result<usize, Refusal> {
    count.checked_mul(4).and_then(|n| usize::try_from(n).ok()).ok_or_else(outside)
}

/// The first difference, as text.
fn differs(expected: &Expected, bytes: &[u8], actual: &[u8]) -> Option<String> {
    let [abs, rel] = expected.tolerance.map(f64::from_bits);
    difference::first(&expected.label, expected.ty.as_ref(), Tolerance { abs, rel }, bytes, actual)
}
