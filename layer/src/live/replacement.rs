//! Replacements of the program's kernel objects: what a woven kernel is given before a launch.

use std::ffi::CString;
use std::sync::{Arc, Mutex};

use opencl_sys::{CL_KERNEL_NUM_ARGS, cl_int, cl_kernel, cl_mem, cl_uint};

use super::objects::{Kind, Owned};
use super::probes::{Mapping, Probe};
use super::reply::{self, Argument, Why};
use super::woven::Woven;
use crate::driver::call;
use crate::lock::lock;
use crate::program::Build;
use crate::shadow::kernel::{Bytes, Settings};

/// The replacement of one of the program's kernel objects. Threads that launch it at the same time get a woven kernel
/// each, so that arguments can be set without a lock.
pub struct Replacement {
    pub woven: Arc<Woven>,
    name: CString,
    module: Arc<Owned>,
    variables: Arc<Vec<Owned>>,
    idle: Mutex<Vec<Ready>>,
}

/// An argument of a woven kernel.
pub enum Value {
    Bytes(Bytes),
    /// No value: local memory of so many bytes, or a null buffer.
    Sized(usize),
    Pointer {
        address: usize,
        unified: bool,
    },
}

/// An argument that has to be set.
pub struct Change {
    pub position: u32,
    pub stamp: u64,
    pub value: Value,
}

/// What has changed since the last launch of a woven kernel.
pub struct Changes {
    pub arguments: Vec<Change>,
    pub settings: Option<(u64, Arc<Settings>)>,
    /// The size of each argument, in bytes, if the kernel's probe tells them; 0 for one that has none.
    pub sizes: Vec<u64>,
}

/// A woven kernel, and what it has been given.
pub struct Ready {
    kernel: Owned,
    /// For each argument of the woven kernel the stamp of the program's argument that it was set from; 0: never.
    pub stamps: Vec<u64>,
    /// The stamp of the settings of `clSetKernelExecInfo`.
    pub settings: u64,
    /// The sizes for which the kernel has its probe buffer.
    probe: Option<(Vec<u64>, Arc<Probe>)>,
}

impl Ready {
    pub fn handle(&self) -> cl_kernel {
        self.kernel.handle()
    }

    /// The probe buffer of its next launch.
    pub fn probe(&self) -> Option<Arc<Probe>> {
        self.probe.as_ref().map(|(_, probe)| probe.clone())
    }
}

impl Replacement {
    /// Returns the replacement of a kernel object of a build of the program.
    pub unsafe fn new(woven: &Arc<Woven>, name: &str, build: &Arc<Build>) -> Result<Replacement, Why> {
        let Some(recipe) = woven.reply.kernels.get(name) else {
            let reason = woven.reply.plain.get(name).map_or("not-answered", String::as_str);
            return Err(Why::new(reason, format!("{name}: {reason}")));
        };
        if !woven.reply.variables.is_empty() {
            // Kernels that share variables must all be woven or none: those that are not have the program's own.
            woven.whole.get(woven.limit, || check_whole(woven, build)).ok_or_else(Woven::busy)??;
        }
        Replacement::by(woven, name, recipe, build)
    }

    unsafe fn by(
        woven: &Arc<Woven>,
        name: &str,
        recipe: &reply::Kernel,
        build: &Arc<Build>,
    ) -> Result<Replacement, Why> {
        let module = woven.module(recipe.module, build)?;
        let variables = woven.variables_of(build)?;
        let name = CString::new(name).map_err(|_| Why::new("not-built", "a name with a zero byte"))?;
        Ok(Replacement { woven: woven.clone(), name, module, variables, idle: Mutex::default() })
    }

    pub fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }

    pub fn recipe(&self) -> Option<&reply::Kernel> {
        self.woven.reply.kernels.get(self.name())
    }

    /// Takes a woven kernel that no other thread uses, if there is one.
    pub fn take(&self) -> Option<Ready> {
        lock(&self.idle).pop()
    }

    /// Gives a woven kernel back after its launch was asked for.
    pub fn give_back(&self, ready: Ready) {
        lock(&self.idle).push(ready);
    }

    /// Makes a further woven kernel.
    pub unsafe fn make(&self, recipe: &reply::Kernel) -> Result<Ready, Why> {
        let driver = self.woven.driver;
        let (module, name) = (self.module.handle(), self.name.as_ptr());
        let mut error = 0;
        let kernel = call!(driver, clCreateKernel(module, name, &mut error) else std::ptr::null_mut());
        let kernel = Owned::new(driver, Kind::Kernel, kernel, error, "clCreateKernel")?;
        let mut count: cl_uint = 0;
        let to = (&raw mut count).cast();
        call!(
            driver,
            clGetKernelInfo(kernel.handle(), CL_KERNEL_NUM_ARGS, size_of::<cl_uint>(), to, std::ptr::null_mut())
        );
        if count as usize != recipe.arguments.len() {
            let message = format!("the woven kernel has {count} arguments, not {}", recipe.arguments.len());
            return Err(Why::new("bad-answer", message));
        }
        let ready = Ready { kernel, stamps: vec![0; recipe.arguments.len()], settings: 0, probe: None };
        for (position, argument) in (0..).zip(&recipe.arguments) {
            if let Argument::Variable { variable } = argument {
                let buffer = self.variables.get(*variable).ok_or_else(|| Why::new("bad-answer", "no variable"))?;
                self.set_memory(&ready, position, buffer.handle())?;
            }
        }
        Ok(ready)
    }

    unsafe fn set_memory(&self, ready: &Ready, position: u32, memory: cl_mem) -> Result<(), Why> {
        let from = (&raw const memory).cast();
        let status = call!(self.woven.driver, clSetKernelArg(ready.handle(), position, size_of::<cl_mem>(), from));
        set(status, position)
    }

    /// Makes the settings of `clSetKernelExecInfo` for a kernel.
    pub unsafe fn set_exec_info(&self, kernel: cl_kernel, settings: &Settings) -> Result<(), Why> {
        for (what, bytes) in settings {
            let from = if bytes.is_empty() { std::ptr::null() } else { bytes.as_ptr().cast() };
            let status = call!(self.woven.driver, clSetKernelExecInfo(kernel, *what, bytes.len(), from));
            if status != 0 {
                return Err(Why::new("exec-info", format!("clSetKernelExecInfo: error {status}")));
            }
        }
        Ok(())
    }

    /// Gives a woven kernel what has changed since its last launch.
    pub unsafe fn apply(
        &self,
        ready: &mut Ready,
        recipe: &reply::Kernel,
        changes: Changes,
        mapping: impl FnOnce(&[u64]) -> Result<Arc<Mapping>, Why>,
    ) -> Result<(), Why> {
        let driver = self.woven.driver;
        let kernel = ready.handle();
        for change in changes.arguments {
            let position = change.position;
            let status = match &change.value {
                Value::Bytes(bytes) => {
                    let bytes = bytes.as_slice();
                    call!(driver, clSetKernelArg(kernel, position, bytes.len(), bytes.as_ptr().cast()))
                }
                Value::Sized(size) => call!(driver, clSetKernelArg(kernel, position, *size, std::ptr::null())),
                Value::Pointer { address, unified } => self.woven.set_pointer(kernel, position, *address, *unified),
            };
            set(status, position)?;
            if let Some(stamp) = ready.stamps.get_mut(position as usize) {
                *stamp = change.stamp;
            }
        }
        if let Some((stamp, settings)) = changes.settings {
            self.set_exec_info(kernel, &settings)?;
            ready.settings = stamp;
        }
        let is_set = ready.probe.as_ref().is_some_and(|(sizes, _)| *sizes == changes.sizes);
        if recipe.probe.is_some() && !is_set {
            let probe = self.woven.probe(self.name(), &changes.sizes, || mapping(&changes.sizes))?;
            for (position, argument) in (0..).zip(&recipe.arguments) {
                if *argument == Argument::Probe {
                    self.set_memory(ready, position, probe.handle())?;
                }
            }
            ready.probe = Some((changes.sizes, probe));
        }
        Ok(())
    }
}

fn set(status: cl_int, position: u32) -> Result<(), Why> {
    match status {
        0 => Ok(()),
        error => Err(Why::new("argument", format!("argument {position} of the woven kernel: error {error}"))),
    }
}

/// Makes a replacement of each kernel, and drops it.
unsafe fn check_whole(woven: &Arc<Woven>, build: &Arc<Build>) -> Result<(), Why> {
    if let Some((name, reason)) = woven.reply.plain.iter().next() {
        return Err(Why::new("variables", format!("{name} has to run as it is and shares variables: {reason}")));
    }
    for (name, recipe) in &woven.reply.kernels {
        Replacement::by(woven, name, recipe, build)?.make(recipe)?;
    }
    Ok(())
}
