//! Device memory of joint sweeps. It is kept from one sweep to the next, because a device takes longer to give it than
//! many a sweep lasts, and because the arena keeps what it began with.

use std::ptr;

use opencl3::command_queue as queue;
use opencl3::context::Context;
use opencl3::types::cl_command_queue;

use super::super::handles::{Event, Memory};
use super::super::memory::empty_buffer;
use super::super::refusal::{Refusal, outside};

/// A buffer and its size in bytes.
#[derive(Debug)]
pub struct Sized {
    size: usize,
    pub memory: Memory,
}

/// The buffers of a joint sweep.
#[derive(Debug)]
pub struct Buffers {
    pub arena: Sized,
    /// The slots are a part of it.
    pub probe: Sized,
    pub segments: Sized,
    pub runs: Sized,
    pub fields: Sized,
    pub results: Sized,
}

/// The bytes that a sweep needs at least.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub arena: usize,
    /// The bytes at the beginning of the arena that are kept from the sweep before.
    pub kept: usize,
    pub probe: usize,
    pub segments: usize,
    pub runs: usize,
    pub fields: usize,
    pub results: usize,
}

impl Buffers {
    /// Takes the buffers of the sweep before, and makes new ones in place of those that are too small.
    ///
    /// # Errors
    /// If the device has no memory, or not what it is said to keep.
    pub fn of(
        before: Option<Buffers>,
        context: &Context,
        queue: cl_command_queue,
        sizes: Sizes,
    ) -> Result<Buffers, Refusal> {
        let (arena, others) = match before {
            Some(Buffers { arena, probe, segments, runs, fields, results }) => {
                (Some(arena), [probe, segments, runs, fields, results].map(Some))
            }
            None => (None, [const { None }; 5]),
        };
        let [probe, segments, runs, fields, results] = others;
        Ok(Buffers {
            arena: arena_of(context, queue, arena, sizes)?,
            probe: Sized::of(context, probe, sizes.probe)?,
            segments: Sized::of(context, segments, sizes.segments)?,
            runs: Sized::of(context, runs, sizes.runs)?,
            fields: Sized::of(context, fields, sizes.fields)?,
            results: Sized::of(context, results, sizes.results)?,
        })
    }
}

impl Sized {
    fn of(context: &Context, known: Option<Sized>, bytes: usize) -> Result<Sized, Refusal> {
        match known.filter(|known| known.size >= bytes) {
            Some(known) => Ok(known),
            None => Ok(Sized { size: bytes, memory: empty_buffer(context, bytes)? }),
        }
    }
}

/// Returns an arena that begins with what the sweep before has left, as far as that is kept.
fn arena_of(context: &Context, queue: cl_command_queue, known: Option<Sized>, sizes: Sizes) -> Result<Sized, Refusal> {
    if known.as_ref().map_or(0, |known| known.size) < sizes.kept {
        return Err(outside());
    }
    // Without anything to keep, the memory of one that is too small may be needed.
    let known = known.filter(|known| known.size >= sizes.arena || sizes.kept > 0);
    match known {
        Some(small) if small.size < sizes.arena => {
            let larger = Sized { size: sizes.arena, memory: empty_buffer(context, sizes.arena)? };
            copy(queue, &small.memory, &larger.memory, sizes.kept)?;
            Ok(larger)
        }
        known => Sized::of(context, known, sizes.arena),
    }
}

/// Copies the first bytes of a buffer, and waits for it.
fn copy(queue: cl_command_queue, from: &Memory, to: &Memory, bytes: usize) -> Result<(), Refusal> {
    // SAFETY: both buffers have as many bytes, and live until the queue is finished.
    unsafe { queue::enqueue_copy_buffer(queue, from.0, to.0, 0, 0, bytes, 0, ptr::null()) }
        .map(|raw| drop(Event(raw)))
        .and_then(|()| queue::finish(queue))
        .map_err(|code| Refusal::driver("copying what joint sweeps keep", code))
}
