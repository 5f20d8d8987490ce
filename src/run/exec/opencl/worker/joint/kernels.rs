//! The kernels that run around a joint launch (`runtime-cl/joint_runs.cl`), built by the driver, and the structures
//! that they share with it.

use std::ffi::c_void;
use std::ptr;

use opencl3::command_queue as queue;
use opencl3::context::Context;
use opencl3::kernel;
use opencl3::program;
use opencl3::types::{cl_command_queue, cl_device_id};

use super::super::handles::{Event, Kernel, Memory, Program};
use super::super::program::create_program_with_ptx;
use super::super::refusal::Refusal;
use crate::exec::Target;

const SOURCE: &str = include_str!("../../../../runtime-cl/joint_runs.cl");

/// Work-items for each run: fewer and, where runs have much memory, more.
const ITEMS: [usize; 2] = [64, 256];

/// From how many bytes for each run on it is given more work-items.
const LARGE: usize = 32 << 10;

/// `segment_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Segment {
    pub pristine: u64,
    pub base: u64,
    pub stride: u64,
    pub first: u32,
    pub fields: u32,
    pub count: u32,
    pub unused: u32,
}

/// `run_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Run {
    pub segment: u32,
    pub words: [u32; 2],
    pub unused: u32,
}

/// The two kernels.
#[derive(Debug)]
pub struct JointKernels {
    reset: Kernel,
    compare: Kernel,
    _program: Program,
}

impl JointKernels {
    /// Has the driver build them for a device, which takes code of the form `target`. `ptx`: see
    /// [`super::super::serve`].
    pub fn new(context: &Context, device: cl_device_id, target: Target, ptx: &str) -> Result<JointKernels, Refusal> {
        let refused = |code| Refusal::driver("compiling what compares the runs of joint launches", code);
        let created = match target {
            Target::Ptx => create_program_with_ptx(context, device, ptx.as_bytes()),
            Target::SpirV | Target::Source | Target::Native => {
                program::create_program_with_source(context.get(), &[SOURCE])
            }
        };
        let program = Program(created.map_err(refused)?);
        program::build_program(program.0, &[device], c"-cl-std=CL1.2", None, ptr::null_mut()).map_err(refused)?;
        let [reset, compare] = [c"reset", c"compare"].map(|name| kernel::create_kernel(program.0, name).map(Kernel));
        Ok(JointKernels { reset: reset.map_err(refused)?, compare: compare.map_err(refused)?, _program: program })
    }

    /// Sets the arguments of both. `slots`: a part of the probe buffer.
    pub fn set(&self, [arena, slots, segments, runs, fields, results]: [&Memory; 6]) -> Result<(), Refusal> {
        let shared = [arena, slots, segments, runs];
        for (position, memory) in (0..).zip(shared) {
            set(&self.reset, position, memory)?;
        }
        for (position, memory) in (0..).zip(shared.into_iter().chain([fields, results])) {
            set(&self.compare, position, memory)?;
        }
        Ok(())
    }

    /// Enqueues the kernel that resets the memories and slots of so many runs, which have so many bytes in all.
    pub fn enqueue_reset(&self, queue: cl_command_queue, runs: usize, bytes: usize) -> Result<(), Refusal> {
        enqueue(queue, &self.reset, runs, bytes)
    }

    /// Enqueues the kernel that compares what they left behind.
    pub fn enqueue_compare(&self, queue: cl_command_queue, runs: usize, bytes: usize) -> Result<(), Refusal> {
        enqueue(queue, &self.compare, runs, bytes)
    }
}

fn set(kernel: &Kernel, position: u32, memory: &Memory) -> Result<(), Refusal> {
    let value = (&raw const memory.0).cast::<c_void>();
    // SAFETY: the value is a handle of a memory object, of the given size, which the driver copies during the call.
    unsafe { kernel::set_kernel_arg(kernel.0, position, size_of_val(&memory.0), value) }
        .map_err(|code| Refusal::driver("setting the arguments of what compares runs", code))
}

fn enqueue(queue: cl_command_queue, kernel: &Kernel, runs: usize, bytes: usize) -> Result<(), Refusal> {
    let items = ITEMS[usize::from(bytes / runs.max(1) >= LARGE)];
    let (global, local) = ([runs * items], [items]);
    // SAFETY: both arrays hold the size of one dimension and live through the call; all arguments of the kernel are
    // set.
    unsafe {
        queue::enqueue_nd_range_kernel(queue, kernel.0, 1, ptr::null(), global.as_ptr(), local.as_ptr(), 0, ptr::null())
    }
    .map(|raw| drop(Event(raw)))
    .map_err(|code| Refusal::driver("resetting or comparing runs", code))
}
