//! Runs one launch on the device: arguments, repeats, times, outputs.

use std::ffi::c_void;
use std::ptr;

use kassay_model::image_buffer::sampler;
use kassay_suite::launch::{Addressing, Filter, NdRange, View};
use opencl3::command_queue as queue;
use opencl3::context::Context;
use opencl3::event::{self, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START};
use opencl3::kernel;
use opencl3::memory::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE, CL_ADDRESS_REPEAT,
    CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_MEM_SIZE, Sampler, get_mem_object_info,
};
use opencl3::types::{cl_bool, cl_command_queue};

use super::handles::{Event, Memory};
use super::memory::{Object, empty_buffer, sub_buffer_alignment};
use super::program::LoadedProgram;
use super::refusal::{Refusal, outside};
use super::svm::{self, PointedBuffer, SvmBuffer};
use super::transfers;
use crate::exec::Kept;
use crate::exec::memory::Span;
use crate::exec::protocol::{Arg, Reply};

/// The parameters of a launch.
#[derive(Debug)]
pub struct LaunchParams<'a> {
    pub range: &'a NdRange,
    pub args: &'a [Arg],
    /// By position: how many zero bytes before and after a buffer belong to it; missing entries are 0.
    pub margins: &'a [u64],
    /// By position: which part of its memory a buffer is; missing entries are the default.
    pub views: &'a [View],
    pub repeats: u32,
    pub probe: Option<Span>,
    /// What the probe buffer begins with.
    pub head: Option<Span>,
    /// Memory after the probe buffer that stays on the device.
    pub kept: Option<Kept>,
    /// Positions of the arguments to read back.
    pub outputs: &'a [u32],
}

/// What must be kept alive for an argument until the launch is over.
#[derive(Debug)]
pub enum ArgResource {
    None,
    Object(Object, Span),
    /// Memory shared with the host, into which pointers may lead anywhere.
    Svm(SvmBuffer, Span),
    /// Memory of the device, into which pointers may lead anywhere.
    Pointed(PointedBuffer, Span),
    /// Kept for its `Drop` only.
    Sampler(#[expect(dead_code, reason = "released when dropped")] Sampler),
}

/// Runs `params` on an in-order queue with profiling; inputs lie in `memory`, and outputs are written over them.
pub fn run(
    context: &Context,
    queue: cl_command_queue,
    loaded: &LoadedProgram,
    params: &LaunchParams,
    memory: &mut [u8],
) -> Result<Reply, Refusal> {
    loaded.renew();
    let given = params.args.len() + usize::from(params.probe.is_some());
    if given != loaded.args as usize {
        let explanation = format!("the kernel takes {} arguments, the launch gives {given}", loaded.args);
        return Err(Refusal::new("CL_INVALID_KERNEL_ARGS", explanation));
    }
    let mut resources = Vec::with_capacity(params.args.len());
    let mut parts = Vec::new();
    for (position, arg) in (0..).zip(params.args) {
        resources.push(match arg {
            Arg::Buffer(span) if span.len > 0 => {
                let resource = memory_of((context, queue, loaded), params, position, *span, memory)?;
                parts.extend(resource.set(context, loaded, position, &params.view(position))?);
                resource
            }
            _ => set(context, loaded, position, arg, params.repeats > 1, memory)?,
        });
    }
    for (position, arg) in (0..).zip(params.args) {
        if let Arg::Same(other) = arg {
            match resources.get(*other as usize) {
                Some(owner @ (ArgResource::Object(..) | ArgResource::Svm(..) | ArgResource::Pointed(..))) => {
                    parts.extend(owner.set(context, loaded, position, &params.view(position))?);
                }
                _ => set_null(loaded, position)?,
            }
        }
    }
    let probe = match params.probe {
        Some(span) => {
            let buffer = match params.kept {
                Some(kept) => with_kept(context, queue, loaded, length(span)?, kept)?,
                None => empty_buffer(context, length(span)?)?,
            };
            set_memory(loaded, loaded.args - 1, &buffer)?;
            Some((buffer, span))
        }
        None => None,
    };
    let mut events = Vec::with_capacity(params.repeats as usize);
    let done = execute(queue, loaded, params, memory, &mut resources, probe.as_ref(), &mut events);
    // What was enqueued still uses the memory, which is about to be released.
    let done = done.map_err(|refusal| refusal.after(queue::finish(queue), !events.is_empty()));
    drop(parts);
    if let (Ok(_), Some(_), Some((buffer, _))) = (&done, params.kept, probe) {
        *loaded.kept.borrow_mut() = Some(buffer);
    }
    done
}

/// Returns the probe buffer of `probe` bytes with the memory after it that is kept: the one that an earlier launch of
/// the program left, or a new one. The probe buffer's own bytes are not zeroed here.
fn with_kept(
    context: &Context,
    queue: cl_command_queue,
    loaded: &LoadedProgram,
    probe: usize,
    kept: Kept,
) -> Result<Memory, Refusal> {
    let bytes = usize::try_from(kept.words).ok().and_then(|words| words.checked_mul(4)?.checked_add(probe));
    let bytes = bytes.ok_or_else(outside)?;
    // Whatever happens to the launch, a buffer that is in doubt is not used again.
    if let Some(known) = loaded.kept.borrow_mut().take().filter(|known| !kept.renew && size_of_buffer(known) >= bytes) {
        return Ok(known);
    }
    let new = empty_buffer(context, bytes)?;
    zero(queue, &new, bytes)?;
    Ok(new)
}

/// The size of a buffer in bytes; 0 if the driver does not tell.
fn size_of_buffer(buffer: &Memory) -> usize {
    get_mem_object_info(buffer.0, CL_MEM_SIZE).map_or(0, |size| size.to_size())
}

/// Runs the kernel, whose arguments are set, and reads what it left behind. `events` gets those of the launches that
/// the device took.
fn execute(
    queue: cl_command_queue,
    loaded: &LoadedProgram,
    params: &LaunchParams,
    memory: &mut [u8],
    resources: &mut [ArgResource],
    probe: Option<&(Memory, Span)>,
    events: &mut Vec<Event>,
) -> Result<Reply, Refusal> {
    for repeat in 0..params.repeats {
        if repeat > 0 {
            reset(queue, resources, memory)?;
        }
        if let Some((buffer, span)) = probe {
            zero(queue, buffer, length(*span)?)?;
            if let Some(head) = params.head {
                let words = bytes(memory, head)?;
                let words = &words[..words.len().min(length(*span)?)];
                transfers::write(queue, buffer, 0, words)
                    .map_err(|code| Refusal::driver("writing the probe buffer", code))?;
            }
        }
        events.push(enqueue(queue, loaded, params.range)?);
    }
    queue::finish(queue).map_err(Refusal::ended)?;
    let mut kernel_times = Vec::with_capacity(events.len());
    for event in events.iter() {
        kernel_times.push(time(event)?);
    }

    for position in params.outputs {
        match resources.get(*position as usize) {
            Some(ArgResource::Object(object, span)) => object.read(queue, bytes_mut(memory, *span)?)?,
            Some(ArgResource::Svm(shared, span)) => bytes_mut(memory, *span)?.copy_from_slice(shared.bytes()),
            Some(ArgResource::Pointed(buffer, span)) => buffer.read(queue, bytes_mut(memory, *span)?)?,
            Some(ArgResource::None | ArgResource::Sampler(_)) | None => {}
        }
    }
    if let Some((buffer, span)) = probe {
        transfers::read(queue, buffer, 0, bytes_mut(memory, *span)?)
            .map_err(|code| Refusal::driver("reading the probe buffer", code))?;
    }
    Ok(Reply::Done { kernel_times })
}

impl LaunchParams<'_> {
    fn view(&self, position: u32) -> View {
        self.views.get(position as usize).copied().unwrap_or_default()
    }

    /// Returns whether an argument is an SVM pointer into the middle of the memory of the argument `owner`.
    fn has_inner_pointers(&self, owner: u32) -> bool {
        let shares = |position: u32, arg: &Arg| position == owner || matches!(arg, Arg::Same(o) if *o == owner);
        let is_inner = |view: View| view.svm && view.offset > 0;
        (0..).zip(self.args).any(|(position, arg)| shares(position, arg) && is_inner(self.view(position)))
    }
}

impl ArgResource {
    /// Sets an argument to its part of this memory. Returns the sub-buffer that has to be kept until the launch is
    /// over, if there is one.
    fn set(
        &self,
        context: &Context,
        loaded: &LoadedProgram,
        position: u32,
        view: &View,
    ) -> Result<Option<Memory>, Refusal> {
        match self {
            ArgResource::Object(object, span) => set_part(context, loaded, position, object, view, span.len),
            ArgResource::Svm(shared, _) => shared.set(loaded, position, view.offset).map(|()| None),
            ArgResource::Pointed(buffer, _) => buffer.set(loaded, position, view.offset).map(|()| None),
            ArgResource::None | ArgResource::Sampler(_) => Err(outside()),
        }
    }
}

/// Creates the memory of a buffer argument, with the contents in `span`.
fn memory_of(
    (context, queue, loaded): (&Context, cl_command_queue, &LoadedProgram),
    params: &LaunchParams<'_>,
    position: u32,
    span: Span,
    memory: &[u8],
) -> Result<ArgResource, Refusal> {
    let contents = bytes(memory, span)?;
    let margin = params.margins.get(position as usize).copied().unwrap_or(0);
    if margin == 0 && params.has_inner_pointers(position) && svm::fine_grained(context.default_device()) {
        let mut shared = SvmBuffer::new(context, contents.len())?;
        shared.bytes_mut().copy_from_slice(contents);
        return Ok(ArgResource::Svm(shared, span));
    }
    if needs_pointers(context, loaded, (params.args, params.views), position) {
        return Ok(ArgResource::Pointed(PointedBuffer::new(context, queue, contents, margin)?, span));
    }
    let repeats = params.repeats > 1;
    let object = match margin {
        0 => Object::buffer(context, contents, repeats)?,
        _ => Object::with_margin(context, contents, margin, repeats)?,
    };
    Ok(ArgResource::Object(object, span))
}

/// Returns whether an argument that shares the memory of the argument `owner` points to a place where the device lets
/// no sub-buffer begin, and the code takes pointers in place of sub-buffers.
pub fn needs_pointers(context: &Context, loaded: &LoadedProgram, (args, views): (&[Arg], &[View]), owner: u32) -> bool {
    let align = sub_buffer_alignment(context) as u64;
    let shares = |position: u32, arg: &Arg| position == owner || matches!(arg, Arg::Same(other) if *other == owner);
    let view = |position: u32| views.get(position as usize).copied().unwrap_or_default();
    loaded.image_buffers
        && (0..).zip(args).any(|(position, arg)| shares(position, arg) && !view(position).offset.is_multiple_of(align))
        && svm::coarse_grained(context.default_device())
}

/// Sets an argument to a buffer or image, or to the part that `view` names of a buffer with `len` bytes of contents.
/// Returns the sub-buffer that has to be kept until the launches are over, if there is one.
pub fn set_part(
    context: &Context,
    loaded: &LoadedProgram,
    position: u32,
    object: &Object,
    view: &View,
    len: u64,
) -> Result<Option<Memory>, Refusal> {
    if view.is_whole() {
        return set_memory(loaded, position, &object.work).map(|()| None);
    }
    let part = object.part(context, position, view, len)?;
    set_memory(loaded, position, &part)?;
    Ok(Some(part))
}

/// Puts the pristine contents, which lie in `memory`, back between two repeats.
fn reset(queue: cl_command_queue, resources: &mut [ArgResource], memory: &[u8]) -> Result<(), Refusal> {
    // The host must not write what a launch still uses.
    if resources.iter().any(|one| matches!(one, ArgResource::Svm(..))) {
        queue::finish(queue).map_err(Refusal::ended)?;
    }
    for one in resources {
        match one {
            ArgResource::Object(object, span) => object.reset(queue, length(*span)?)?,
            ArgResource::Svm(shared, span) => shared.bytes_mut().copy_from_slice(bytes(memory, *span)?),
            ArgResource::Pointed(buffer, span) => buffer.write(queue, bytes(memory, *span)?)?,
            ArgResource::None | ArgResource::Sampler(_) => {}
        }
    }
    Ok(())
}

/// Creates the OpenCL object for an argument, if it needs one, and sets the argument.
pub fn set(
    context: &Context,
    loaded: &LoadedProgram,
    position: u32,
    arg: &Arg,
    repeats: bool,
    memory: &[u8],
) -> Result<ArgResource, Refusal> {
    match arg {
        Arg::Value(span) => {
            let value = bytes(memory, *span)?;
            set_raw(loaded, position, value.len(), value.as_ptr().cast())?;
            Ok(ArgResource::None)
        }
        Arg::Local(len) => {
            // OpenCL refuses 0 bytes of local memory.
            set_raw(loaded, position, usize::try_from(*len).unwrap_or(usize::MAX).max(1), ptr::null())?;
            Ok(ArgResource::None)
        }
        // Set once the buffer that it shares exists.
        Arg::Same(_) => Ok(ArgResource::None),
        Arg::Buffer(span) if span.len == 0 => {
            set_null(loaded, position)?;
            Ok(ArgResource::None)
        }
        Arg::Buffer(span) => {
            let object = Object::buffer(context, bytes(memory, *span)?, repeats)?;
            set_memory(loaded, position, &object.work)?;
            Ok(ArgResource::Object(object, *span))
        }
        Arg::Image { shape, format, texels } => {
            let create = if loaded.image_buffers { Object::described } else { Object::image };
            let object = create(context, shape, format, bytes(memory, *texels)?, repeats)
                .map_err(|refusal| refusal.of_argument(position))?;
            set_memory(loaded, position, &object.work)?;
            Ok(ArgResource::Object(object, *texels))
        }
        Arg::Sampler { addressing, filter, normalized } if loaded.image_buffers => {
            let bits = sampler_bits(*addressing, *filter, *normalized);
            set_raw(loaded, position, size_of_val(&bits), (&raw const bits).cast())?;
            Ok(ArgResource::None)
        }
        Arg::Sampler { addressing, filter, normalized } => {
            let addressing = match addressing {
                Addressing::None => CL_ADDRESS_NONE,
                Addressing::ClampToEdge => CL_ADDRESS_CLAMP_TO_EDGE,
                Addressing::Clamp => CL_ADDRESS_CLAMP,
                Addressing::Repeat => CL_ADDRESS_REPEAT,
                Addressing::MirroredRepeat => CL_ADDRESS_MIRRORED_REPEAT,
            };
            let filter = match filter {
                Filter::Nearest => CL_FILTER_NEAREST,
                Filter::Linear => CL_FILTER_LINEAR,
            };
            #[expect(deprecated, reason = "its successor is missing in OpenCL 1.2")]
            let sampler = Sampler::create(context, cl_bool::from(*normalized), addressing, filter)
                .map_err(|e| Refusal::driver(&format!("making the sampler of argument {position}"), e.0))?;
            let raw = sampler.get();
            set_raw(loaded, position, size_of_val(&raw), (&raw const raw).cast())?;
            Ok(ArgResource::Sampler(sampler))
        }
    }
}

/// Returns the number that stands for a sampler in code in which images are buffers.
fn sampler_bits(addressing: Addressing, filter: Filter, normalized: bool) -> u32 {
    let mode = match addressing {
        Addressing::None => 0,
        Addressing::ClampToEdge => 1,
        Addressing::Clamp => 2,
        Addressing::Repeat => 3,
        Addressing::MirroredRepeat => 4,
    };
    let filter = match filter {
        Filter::Nearest => sampler::NEAREST,
        Filter::Linear => sampler::LINEAR,
    };
    mode * sampler::ADDRESSING + filter + u32::from(normalized) * sampler::NORMALIZED
}

/// Sets an argument to a buffer or image.
pub fn set_memory(loaded: &LoadedProgram, position: u32, object: &Memory) -> Result<(), Refusal> {
    set_raw(loaded, position, size_of_val(&object.0), (&raw const object.0).cast())
}

/// Sets an argument to a null pointer.
pub fn set_null(loaded: &LoadedProgram, position: u32) -> Result<(), Refusal> {
    let null: opencl3::types::cl_mem = ptr::null_mut();
    set_raw(loaded, position, size_of_val(&null), (&raw const null).cast())
}

/// Sets an argument to the `size` bytes at `value`, or to `size` bytes of local memory if `value` is null.
pub fn set_raw(loaded: &LoadedProgram, position: u32, size: usize, value: *const c_void) -> Result<(), Refusal> {
    // SAFETY: all callers pass a `value` that points to `size` bytes, or null for local memory; the driver copies the
    // bytes during the call.
    unsafe { kernel::set_kernel_arg(loaded.kernel(), position, size, value) }
        .map_err(|code| Refusal::driver(&format!("setting argument {position} ({size} bytes)"), code))
}

fn zero(queue: cl_command_queue, buffer: &Memory, len: usize) -> Result<(), Refusal> {
    let len = len.next_multiple_of(4);
    if len == 0 {
        return Ok(());
    }
    let pattern = 0_u32;
    // SAFETY: the buffer has at least `len` bytes, because its size was rounded up likewise; the driver copies the
    // pattern during the call.
    unsafe { queue::enqueue_fill_buffer(queue, buffer.0, (&raw const pattern).cast(), 4, 0, len, 0, ptr::null()) }
        .map(|raw| drop(Event(raw)))
        .map_err(|code| Refusal::driver("zeroing the probe buffer", code))
}

/// Enqueues the kernel over `range`.
pub fn enqueue(queue: cl_command_queue, loaded: &LoadedProgram, range: &NdRange) -> Result<Event, Refusal> {
    let sizes = |of: &[u64; 3]| of.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let (global, offset, local) = (sizes(&range.global), sizes(&range.offset), range.local.as_ref().map(sizes));
    let local_ptr = local.as_ref().map_or(ptr::null(), |l| l.as_ptr());
    let dims = range.dims;
    if !(1..=3).contains(&dims) {
        return Err(Refusal::driver(&format!("{dims} dimensions"), -53));
    }
    // SAFETY: the arrays hold three sizes each and live through the call, and `dims` is at most 3; all arguments of the
    // kernel are set.
    unsafe {
        let (kernel, offset, global) = (loaded.kernel(), offset.as_ptr(), global.as_ptr());
        queue::enqueue_nd_range_kernel(queue, kernel, dims, offset, global, local_ptr, 0, ptr::null())
    }
    .map(Event)
    .map_err(|code| {
        let show = |of: &[u64; 3]| format!("{:?}", &of[..dims as usize]);
        let local = range.local.as_ref().map_or("left to the driver".into(), show);
        Refusal::driver(&format!("global size {}, local size {local}", show(&range.global)), code)
    })
}

/// Nanoseconds that a finished kernel took.
pub fn time(event: &Event) -> Result<u64, Refusal> {
    let status = event::get_event_info(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS).map_or_else(|e| e, |s| s.to_int());
    if status < 0 {
        return Err(Refusal::ended(status));
    }
    let at = |what| event::get_event_profiling_info(event.0, what).map_or(0, |t| t.to_ulong());
    Ok(at(CL_PROFILING_COMMAND_END).saturating_sub(at(CL_PROFILING_COMMAND_START)))
}

/// The length of `span` as a host size.
pub fn length(span: Span) -> Result<usize, Refusal> {
    usize::try_from(span.len).map_err(|_| outside())
}

/// The bytes of `span` in the shared memory.
pub fn bytes(memory: &[u8], span: Span) -> Result<&[u8], Refusal> {
    span.of(memory).ok_or_else(outside)
}

fn bytes_mut(memory: &mut [u8], span: Span) -> Result<&mut [u8], Refusal> {
    span.of_mut(memory).ok_or_else(outside)
}
