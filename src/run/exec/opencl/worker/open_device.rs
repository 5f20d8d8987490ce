//! A device with its context, its queue and the programs that were loaded on it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use opencl3::command_queue::{self as queue, CL_QUEUE_PROFILING_ENABLE};
use opencl3::context::{Context, context};
use opencl3::types::{cl_command_queue, cl_device_id, cl_platform_id};

use super::devices::FoundDevice;
use super::joint::buffers::Buffers;
use super::joint::kernels::JointKernels;
use super::program::{self, BuildFailure, LoadedProgram};
use super::refusal::Refusal;
use crate::exec::Target;

/// An open device.
pub struct OpenDevice {
    pub platform: cl_platform_id,
    pub device: cl_device_id,
    pub context: Context,
    pub queue: cl_command_queue,
    target: Target,
    /// See [`super::serve`].
    joint_ptx: &'static str,
    /// By number.
    pub programs: HashMap<u32, LoadedProgram>,
    /// What runs around joint launches, once it has been built.
    joint: OnceCell<JointKernels>,
    /// The buffers of the last joint sweep, for the next one.
    pub joint_buffers: RefCell<Option<Buffers>>,
}

impl OpenDevice {
    /// Opens a device for code of the form `target`. The error is OpenCL's. `joint_ptx`: see [`super::serve`].
    pub fn new(found: FoundDevice, target: Target, joint_ptx: &'static str) -> std::result::Result<OpenDevice, i32> {
        let FoundDevice { platform, device, .. } = found;
        let raw = context::create_context(&[device], std::ptr::null(), None, std::ptr::null_mut())?;
        let context = Context::new(raw, &[device]);
        // SAFETY: `context` was created for `device` just above and is alive.
        #[expect(deprecated, reason = "its successor is missing in OpenCL 1.2")]
        let queue = unsafe { queue::create_command_queue(context.get(), device, CL_QUEUE_PROFILING_ENABLE)? };
        Ok(OpenDevice {
            platform,
            device,
            context,
            queue,
            target,
            joint_ptx,
            programs: HashMap::new(),
            joint: OnceCell::new(),
            joint_buffers: RefCell::default(),
        })
    }

    /// Returns what runs around joint launches.
    ///
    /// # Errors
    /// The driver's, if it cannot compile that.
    pub fn joint_kernels(&self) -> Result<&JointKernels, Refusal> {
        if let Some(kernels) = self.joint.get() {
            return Ok(kernels);
        }
        let made = JointKernels::new(&self.context, self.device, self.target, self.joint_ptx)?;
        Ok(self.joint.get_or_init(|| made))
    }

    /// Builds a module of the form `target` and creates its kernel `entry`.
    pub fn build(
        &self,
        target: Target,
        code: &[u8],
        entry: &str,
        options: &str,
    ) -> std::result::Result<LoadedProgram, BuildFailure> {
        program::load(&self.context, self.platform, self.device, (target, code), entry, options)
    }
}
