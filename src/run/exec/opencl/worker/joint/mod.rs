//! Runs a joint sweep on the device. Per launch of the device, the host sends the header of the probe buffer and the
//! first words of the slots, and reads a result per run; memories of runs are reset and compared where they lie.

pub mod buffers;
pub mod kernels;

use std::ptr;

use kassay_model::joint::{HEADER_WORDS, SLOT_WORDS, header, segment};
use kassay_suite::launch::NdRange;
use opencl3::command_queue as queue;
use opencl3::types::cl_command_queue;

use self::buffers::{Buffers, Sizes};
use self::kernels::{JointKernels, Run, Segment};
use super::handles::{Event, Memory};
use super::launch;
use super::memory::{sub_buffer, sub_buffer_alignment};
use super::open_device::OpenDevice;
use super::program::LoadedProgram;
use super::refusal::{Refusal, outside};
use super::transfers;
use crate::exec::joint::RESULT_WORDS;
use crate::exec::protocol::{Joint, JointArg, Reply};
use crate::exec::records::{PROGRESS_BYTES, ProgressWords};

/// Bytes of a slot, and of a result.
const SLOT_BYTES: usize = 4 * SLOT_WORDS as usize;
const RESULT_BYTES: usize = 4 * RESULT_WORDS;

/// The number of launches whose times are reported.
const MAX_TIMED_LAUNCHES: usize = 4096;

/// Most work-items of one launch of the device; a launch of a single run may have more.
const MOST_ITEMS: u64 = 1 << 26;

/// Most work-groups likewise, far below what ids of 32 bits reach.
const MOST_GROUPS: u64 = 1 << 28;

/// Runs `joint`; its inputs lie in `memory` before its records.
pub fn run(open: &OpenDevice, loaded: &LoadedProgram, joint: &Joint, memory: &mut [u8]) -> Result<Reply, Refusal> {
    loaded.renew();
    let given = joint.args.len() + 1;
    if given != loaded.args as usize {
        let explanation = format!("the kernel takes {} arguments, the launch gives {given}", loaded.args);
        return Err(Refusal::new("CL_INVALID_KERNEL_ARGS", explanation));
    }
    let split = usize::try_from(joint.records.start).map_err(|_| outside())?;
    let (inputs, results) = memory.split_at_mut_checked(split).ok_or_else(outside)?;
    let mut sweep = Sweep::prepare(open, loaded, open.joint_kernels()?, joint, inputs)?;
    let ran = sweep.run(results);
    // The objects must not be released while the device uses them.
    let finished = queue::finish(open.queue).map_err(Refusal::ended);
    *open.joint_buffers.borrow_mut() = Some(sweep.buffers);
    ran.and(finished)?;
    Ok(Reply::Swept { kernel_times: sweep.times })
}

struct Sweep<'a> {
    queue: cl_command_queue,
    loaded: &'a LoadedProgram,
    kernels: &'a JointKernels,
    joint: &'a Joint,
    /// Three words each.
    runs: &'a [[[u8; 4]; 3]],
    /// Where the memories of runs begin in the arena.
    after_fixed: u64,
    buffers: Buffers,
    /// The part of the probe buffer that is reset.
    _slots: Memory,
    /// The words of the probe buffer before the slots, and where the table of segments begins.
    head: Vec<u8>,
    table: usize,
    times: Vec<u64>,
}

/// The runs of one launch of the device.
struct Round {
    count: usize,
    groups: u64,
    /// Bytes of their memories, which lie one after the other.
    memory: usize,
    segments: Vec<Segment>,
    runs: Vec<Run>,
}

impl<'a> Sweep<'a> {
    fn prepare(
        open: &OpenDevice,
        loaded: &'a LoadedProgram,
        kernels: &'a JointKernels,
        joint: &'a Joint,
        inputs: &'a [u8],
    ) -> Result<Sweep<'a>, Refusal> {
        let context = &open.context;
        let fixed = launch::bytes(inputs, joint.fixed)?;
        let fields = launch::bytes(inputs, joint.fields)?;
        let blocks = launch::bytes(inputs, joint.blocks)?;
        let runs = launch::bytes(inputs, joint.runs)?.as_chunks::<4>().0.as_chunks::<3>().0;
        let most = joint.most_runs.max(1) as usize;
        let block = 4 * joint.block_words as usize;
        let most_segments = joint.launches.len().min(most).max(1);
        let header = 4 * HEADER_WORDS as usize;
        let table = header + blocks.len();
        let alignment = sub_buffer_alignment(context).max(SLOT_BYTES);
        let first_slot = (table + 4 * segment::WORDS as usize * most_segments).next_multiple_of(alignment);
        let is_whole = blocks.len() == block * joint.launches.len()
            && block.is_multiple_of(4)
            && joint.kept.checked_add(fixed.len() as u64).is_some_and(|len| len <= joint.arena);
        if !is_whole || runs.len() != joint.count as usize {
            return Err(outside());
        }
        let size = |len: u64| usize::try_from(len).map_err(|_| outside());
        let kept = size(joint.kept)?;
        let buffers = Buffers::of(
            open.joint_buffers.take(),
            context,
            open.queue,
            Sizes {
                arena: size(joint.arena)?,
                kept,
                probe: first_slot + most * SLOT_BYTES,
                segments: size_of::<Segment>() * most_segments,
                runs: size_of::<Run>() * most,
                fields: fields.len(),
                results: most * RESULT_BYTES,
            },
        )?;
        let slots = sub_buffer(&buffers.probe.memory, first_slot, most * SLOT_BYTES)
            .map_err(|code| Refusal::driver("making the slots of a joint launch", code))?;
        let arena = &buffers.arena.memory;
        write(open.queue, arena, kept, fixed)?;
        write(open.queue, &buffers.fields.memory, 0, fields)?;
        kernels.set([
            arena,
            &slots,
            &buffers.segments.memory,
            &buffers.runs.memory,
            &buffers.fields.memory,
            &buffers.results.memory,
        ])?;
        for (position, arg) in (0..).zip(&joint.args) {
            match arg {
                JointArg::Arena => launch::set_memory(loaded, position, arena)?,
                JointArg::Local(len) => launch::set_raw(loaded, position, size(*len)?.max(1), ptr::null())?,
                JointArg::Value(len) => {
                    let nothing = vec![0_u8; size(*len)?];
                    launch::set_raw(loaded, position, nothing.len(), nothing.as_ptr().cast())?;
                }
            }
        }
        launch::set_memory(loaded, loaded.args - 1, &buffers.probe.memory)?;
        let mut head = vec![0; first_slot];
        head[header..table].copy_from_slice(blocks);
        put(&mut head, header::TABLE, table as u32 / 4);
        put(&mut head, header::FIRST_SLOT, first_slot as u32 / 4);
        Ok(Sweep {
            queue: open.queue,
            loaded,
            kernels,
            joint,
            runs,
            after_fixed: (joint.kept + fixed.len() as u64).next_multiple_of(128),
            buffers,
            _slots: slots,
            head,
            table,
            times: Vec::new(),
        })
    }

    fn run(&mut self, results: &mut [u8]) -> Result<(), Refusal> {
        let progress = ProgressWords::of(results).ok_or_else(outside)?;
        let mut first = 0;
        let repeats = self.joint.repeats.max(1) as usize;
        let mut left = PROGRESS_BYTES + repeats * self.runs.len() * RESULT_BYTES;
        let mut next = self.round_at(0)?;
        while let Some(round) = next.take() {
            for repeat in 0..repeats {
                let to = PROGRESS_BYTES + (repeat * self.runs.len() + first) * RESULT_BYTES;
                let to = results.get_mut(to..to + round.count * RESULT_BYTES).ok_or_else(outside)?;
                progress.begin(first, round.count);
                let event = self.enqueue(&round)?;
                if repeat + 1 == repeats {
                    // While the device is at it, the next one is laid out.
                    queue::flush(self.queue).map_err(Refusal::ended)?;
                    next = self.round_at(first + round.count)?;
                }
                self.read_results(&event, to)?;
                progress.end();
            }
            if self.joint.memories {
                let to = results.get_mut(left..left + round.memory).ok_or_else(outside)?;
                transfers::read(self.queue, &self.buffers.arena.memory, self.after_fixed as usize, to)
                    .map_err(Refusal::ended)?;
                left += round.memory;
            }
            first += round.count;
        }
        Ok(())
    }

    /// Returns the round of the runs from `first` on; `None` if there are none.
    fn round_at(&mut self, first: usize) -> Result<Option<Round>, Refusal> {
        if first < self.runs.len() { self.next_round(first).map(Some) } else { Ok(None) }
    }

    /// Takes as many of the runs from `first` on as fit into one launch, at least one.
    fn next_round(&mut self, first: usize) -> Result<Round, Refusal> {
        let items: u64 = self.joint.local.iter().product();
        let most = self.joint.most_runs.max(1) as usize;
        let mut round = Round { count: 0, groups: 0, memory: 0, segments: Vec::new(), runs: Vec::new() };
        let (mut memory, mut current) = (self.after_fixed, None);
        for run in self.runs[first..].iter().take(most) {
            let [number, words @ ..] = run.map(u32::from_le_bytes);
            let of = self.joint.launches.get(number as usize).ok_or_else(outside)?;
            let groups = round.groups + u64::from(of.groups);
            let is_full = groups * items > MOST_ITEMS || groups > MOST_GROUPS || memory + of.memory > self.joint.arena;
            if is_full && round.count > 0 {
                break;
            }
            if memory + of.memory > self.joint.arena {
                return Err(outside());
            }
            if current != Some(number) {
                current = Some(number);
                let block = HEADER_WORDS + number * self.joint.block_words;
                let at = self.table / 4 + round.segments.len() * segment::WORDS as usize;
                let entry = [
                    (segment::FIRST_GROUP, round.groups as u32),
                    (segment::PARAMETERS, block),
                    (segment::FIRST_SLOT, round.count as u32),
                    (segment::RUN_GROUPS, of.groups),
                    (segment::BASE, memory as u32),
                    (segment::BASE + 1, (memory >> 32) as u32),
                    (segment::STRIDE, of.memory as u32),
                    (segment::STRIDE + 1, (of.memory >> 32) as u32),
                ];
                entry.into_iter().for_each(|(word, value)| put(&mut self.head, at as u32 + word, value));
                round.segments.push(Segment {
                    pristine: of.pristine,
                    base: memory,
                    stride: of.memory,
                    first: round.count as u32,
                    fields: of.fields.0,
                    count: of.fields.1,
                    unused: 0,
                });
            }
            round.runs.push(Run { segment: round.segments.len() as u32 - 1, words, unused: 0 });
            memory += of.memory;
            round.groups = groups;
            round.count += 1;
        }
        put(&mut self.head, header::SEGMENTS, round.segments.len() as u32);
        round.memory = usize::try_from(memory - self.after_fixed).map_err(|_| outside())?;
        Ok(round)
    }

    /// Enqueues all that a round takes but reading its results. Returns the event of the launch.
    fn enqueue(&self, round: &Round) -> Result<Event, Refusal> {
        write(self.queue, &self.buffers.probe.memory, 0, &self.head)?;
        write(self.queue, &self.buffers.segments.memory, 0, bytes_of(&round.segments))?;
        write(self.queue, &self.buffers.runs.memory, 0, bytes_of(&round.runs))?;
        self.kernels.enqueue_reset(self.queue, round.count, round.memory)?;
        let [x, y, z] = self.joint.local;
        let range =
            NdRange { dims: 3, global: [round.groups * x, y, z], local: Some(self.joint.local), offset: [0; 3] };
        let event = launch::enqueue(self.queue, self.loaded, &range)?;
        self.kernels.enqueue_compare(self.queue, round.count, round.memory)?;
        Ok(event)
    }

    /// Waits for a round and reads its results.
    fn read_results(&mut self, event: &Event, results: &mut [u8]) -> Result<(), Refusal> {
        transfers::read(self.queue, &self.buffers.results.memory, 0, results).map_err(Refusal::ended)?;
        if self.times.len() < MAX_TIMED_LAUNCHES {
            self.times.push(launch::time(event)?);
        }
        Ok(())
    }
}

/// Writes a word of the head.
fn put(head: &mut [u8], word: u32, value: u32) {
    let at = 4 * word as usize;
    if let Some(bytes) = head.get_mut(at..at + 4) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}

fn bytes_of<T: Copy>(all: &[T]) -> &[u8] {
    // SAFETY: the types that this is called with are of whole words without padding, so that all their bytes are
    // initialised.
    unsafe { std::slice::from_raw_parts(all.as_ptr().cast(), size_of_val(all)) }
}

fn write(queue: cl_command_queue, to: &Memory, at: usize, bytes: &[u8]) -> Result<(), Refusal> {
    transfers::write(queue, to, at, bytes)
        .map_err(|code| Refusal::driver("writing what a joint launch begins with", code))
}
