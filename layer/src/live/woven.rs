//! Woven programs in a context: modules, variables and probe buffers.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use opencl_sys::{
    CL_DEVICE_IL_VERSION, CL_DEVICE_PLATFORM, CL_INVALID_BUILD_OPTIONS, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE,
    CL_PROGRAM_BUILD_LOG, cl_context, cl_device_id, cl_int, cl_kernel, cl_platform_id, cl_program, cl_uint,
};

use super::binaries;
use super::objects::{Kind, Owned};
use super::once::Once;
use super::probes::{Mapping, Probe, Reader};
use super::reply::{self, Why};
use super::verified::Verified;
use crate::driver::{Driver, call, text};
use crate::lock::lock;
use crate::program::{Build, PartialGroups, UNIFORM};
use crate::spool;
use crate::spool::blobs::Id;

/// Probe buffers of a kernel, one for each combination of its arguments' sizes, at most.
const MOST_PROBES: usize = 256;
/// Characters of a build log that are handed on.
const MOST_LOG: usize = 2000;

type Made<T> = Arc<Once<Result<Arc<T>, Why>>>;
/// The variables of one build of the program.
type Variables = (Weak<Build>, Made<Vec<Owned>>);
/// Probe buffers by kernel and sizes of arguments.
type Probes = HashMap<(String, Vec<u64>), Made<Probe>>;
type SetPointer = unsafe extern "C" fn(cl_kernel, cl_uint, *const c_void) -> cl_int;
type CreateWithIl = unsafe extern "C" fn(cl_context, *const c_void, usize, *mut cl_int) -> cl_program;

/// A program's woven code in a context, for a device.
pub struct Woven {
    pub driver: &'static Driver,
    pub context: usize,
    device: usize,
    pub program: Id,
    pub reply: Arc<reply::Woven>,
    modules: Vec<Made<Owned>>,
    variables: Mutex<Vec<Variables>>,
    /// Whether all kernels can be woven, where they have variables.
    pub whole: Once<Result<(), Why>>,
    probes: Mutex<Probes>,
    verified: Mutex<Verified>,
    pub reader: Arc<Reader>,
    /// How long to wait for another thread that builds.
    pub limit: Duration,
    /// Called when there is a probe buffer that has to be read before the process ends.
    watch_exit: fn(),
}

impl Woven {
    pub fn new(
        driver: &'static Driver,
        (context, device): (usize, usize),
        program: Id,
        reply: Arc<reply::Woven>,
        reader: Arc<Reader>,
        limit: Duration,
        watch_exit: fn(),
    ) -> Woven {
        Woven {
            driver,
            context,
            device,
            program,
            modules: reply.modules.iter().map(|_| Arc::default()).collect(),
            reply,
            variables: Mutex::default(),
            whole: Once::default(),
            probes: Mutex::default(),
            verified: Mutex::default(),
            reader,
            limit,
            watch_exit,
        }
    }

    pub fn busy() -> Why {
        Why::new(reply::BUSY, "another thread builds the woven program for a long time")
    }

    /// Returns a module, which is built at the first call.
    pub unsafe fn module(&self, index: usize, build: &Build) -> Result<Arc<Owned>, Why> {
        let module = self.modules.get(index).cloned().unwrap_or_default();
        module.get(self.limit, || self.build(index, build).map(Arc::new)).ok_or_else(Woven::busy)?
    }

    /// Builds a module.
    unsafe fn build(&self, index: usize, of: &Build) -> Result<Owned, Why> {
        let module =
            self.reply.modules.get(index).ok_or_else(|| Why::new("bad-answer", format!("no module {index}")))?;
        let device = self.device as cl_device_id;
        let options = options_of(module, of);
        let kept = binaries::path(&module.file, &options);
        let earlier = |path: &PathBuf| binaries::load(self.driver, self.context, device, path, &options);
        if let Some(program) = kept.as_ref().and_then(earlier) {
            return Ok(program);
        }
        let path = spool::folder().unwrap_or_else(|| std::path::Path::new("")).join(&module.file);
        let code =
            std::fs::read(&path).map_err(|error| Why::new("no-module", format!("{}: {error}", path.display())))?;
        let create = self.create_with_il().ok_or_else(|| Why::new("no-il", "the device takes no SPIR-V"))?;
        let mut error = 0;
        let program = create(self.context as cl_context, code.as_ptr().cast(), code.len(), &mut error);
        if program.is_null() && !self.lists_il() {
            return Err(Why::new("no-il", "the device takes no SPIR-V"));
        }
        let program = Owned::new(self.driver, Kind::Program, program, error, "clCreateProgramWithIL")?;
        let handle = program.handle();
        let with = |options: &CStr| {
            call!(self.driver, clBuildProgram(handle, 1, &device, options.as_ptr(), None, std::ptr::null_mut()))
        };
        let mut status = with(&options);
        if status == 0 {
            kept.into_iter().for_each(|path| binaries::keep(self.driver, &program, device, &path));
        } else if status == CL_INVALID_BUILD_OPTIONS {
            status = with(&module.options);
        }
        if status == 0 {
            return Ok(program);
        }
        let log = text(|size, value, size_ret| {
            let what = CL_PROGRAM_BUILD_LOG;
            call!(self.driver, clGetProgramBuildInfo(handle, device, what, size, value, size_ret))
        });
        let log: String = log.unwrap_or_default().chars().take(MOST_LOG).collect();
        Err(Why::new("not-built", format!("clBuildProgram: error {status}: {}", telling_first(&log))))
    }

    /// Whether the device lists a version of SPIR-V.
    unsafe fn lists_il(&self) -> bool {
        let (driver, device) = (self.driver, self.device as cl_device_id);
        let versions = text(|size, value, size_ret| {
            call!(driver, clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, size, value, size_ret))
        });
        versions.is_some_and(|versions| !versions.trim().is_empty())
    }

    unsafe fn create_with_il(&self) -> Option<CreateWithIl> {
        self.driver.table.clCreateProgramWithIL.or_else(|| {
            // SAFETY: this is the type of the function of this name.
            self.extension(c"clCreateProgramWithILKHR").map(|address| std::mem::transmute(address))
        })
    }

    /// An extension function of the device's driver.
    pub unsafe fn extension(&self, name: &CStr) -> Option<usize> {
        let mut platform: cl_platform_id = std::ptr::null_mut();
        let (device, to) = (self.device as cl_device_id, (&raw mut platform).cast());
        let size = size_of::<cl_platform_id>();
        if call!(self.driver, clGetDeviceInfo(device, CL_DEVICE_PLATFORM, size, to, std::ptr::null_mut())) != 0 {
            return None;
        }
        let address = call!(
            self.driver,
            clGetExtensionFunctionAddressForPlatform(platform, name.as_ptr()) else std::ptr::null_mut()
        );
        (!address.is_null()).then_some(address as usize)
    }

    /// Sets a pointer to shared virtual memory, by the call for the kind that it is of, else by the other one.
    pub unsafe fn set_pointer(&self, kernel: cl_kernel, position: u32, address: usize, unified: bool) -> cl_int {
        let value = address as *const c_void;
        let core = || call!(self.driver, clSetKernelArgSVMPointer(kernel, position, value));
        let intel = || match self.extension(c"clSetKernelArgMemPointerINTEL") {
            Some(function) => {
                // SAFETY: this is the type of the function of this name.
                let function: SetPointer = std::mem::transmute(function);
                function(kernel, position, value)
            }
            None => opencl_sys::CL_INVALID_OPERATION,
        };
        let status = if unified { intel() } else { core() };
        match (status, unified) {
            (0, _) => 0,
            (_, true) => core(),
            (_, false) => intel(),
        }
    }

    /// What was found out about its kernels.
    pub fn verified(&self) -> MutexGuard<'_, Verified> {
        lock(&self.verified)
    }

    pub fn device(&self) -> usize {
        self.device
    }

    /// Returns the variables of one build of the program; another build of the same code has its own.
    pub unsafe fn variables_of(&self, build: &Arc<Build>) -> Result<Arc<Vec<Owned>>, Why> {
        let mut gone = Vec::new();
        let made = {
            let mut all = lock(&self.variables);
            let of = |of: &Weak<Build>| std::ptr::eq(of.as_ptr(), Arc::as_ptr(build));
            gone.extend(all.extract_if(.., |(of, _)| of.strong_count() == 0));
            match all.iter().find(|(found, _)| of(found)) {
                Some((_, made)) => made.clone(),
                None => {
                    let made = Made::default();
                    all.push((Arc::downgrade(build), Made::clone(&made)));
                    made
                }
            }
        };
        drop(gone);
        let make = || {
            let buffers = self.reply.variables.iter().map(|variable| self.variable(variable));
            buffers.collect::<Result<Vec<_>, _>>().map(Arc::new)
        };
        made.get(self.limit, make).ok_or_else(Woven::busy)?
    }

    unsafe fn variable(&self, variable: &reply::Variable) -> Result<Owned, Why> {
        let mut bytes: Vec<u8> = Vec::new();
        bytes.try_reserve_exact(variable.size).map_err(|error| Why::new("not-built", error.to_string()))?;
        bytes.extend_from_slice(&variable.initial);
        bytes.resize(variable.size, 0);
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        let (context, host) = (self.context as cl_context, bytes.as_mut_ptr().cast());
        let mut error = 0;
        let buffer = call!(
            self.driver,
            clCreateBuffer(context, flags, bytes.len(), host, &mut error) else std::ptr::null_mut()
        );
        Owned::new(self.driver, Kind::Memory, buffer, error, "clCreateBuffer")
    }

    /// Returns the probe buffer of a kernel for these sizes of its arguments. `mapping` gives a new buffer its file.
    pub unsafe fn probe(
        &self,
        name: &str,
        sizes: &[u64],
        mapping: impl FnOnce() -> Result<Arc<Mapping>, Why>,
    ) -> Result<Arc<Probe>, Why> {
        let made = {
            let mut all = lock(&self.probes);
            let at = (name.to_owned(), sizes.to_vec());
            let count = all.keys().filter(|(of, _)| of == name).count();
            if count >= MOST_PROBES && !all.contains_key(&at) {
                let message = format!("{name} had {MOST_PROBES} combinations of sizes");
                return Err(Why::new("too-many-sizes", message));
            }
            all.entry(at).or_default().clone()
        };
        let make = || {
            let probe = Probe::new(self.driver, self.context, mapping()?)?;
            self.reader.prepare(&probe, self.context, self.device)?;
            if self.reader.queue().is_some() {
                (self.watch_exit)();
            }
            Ok(Arc::new(probe))
        };
        made.get(self.limit, make).ok_or_else(Woven::busy)?
    }

    /// Reads the probe buffers where that is necessary. Returns `false` if a read was given up.
    pub unsafe fn read_probes(&self) -> bool {
        let Some(queue) = self.reader.queue() else { return true };
        let all: Vec<_> = lock(&self.probes).values().cloned().collect();
        // Where one cannot be read in time, the others would not be, either.
        let mut made = all.iter().filter_map(|made: &Made<Probe>| made.peek()?.ok());
        made.all(|probe| probe.read(queue))
    }
}

/// The options of a module. SPIR-V has partial work-groups, the program's own kernels may not.
fn options_of(module: &reply::Module, build: &Build) -> CString {
    let given = module.options.to_string_lossy();
    let is_there = given.split_ascii_whitespace().any(|word| word == UNIFORM);
    if build.partial_groups() != PartialGroups::Refused || is_there {
        return module.options.clone();
    }
    CString::new(format!("{given} {UNIFORM}")).unwrap_or_else(|_| module.options.clone())
}

/// A build log whose first line says what is wrong: tables show that line alone, and logs begin with what the driver
/// was doing.
fn telling_first(log: &str) -> String {
    let is_telling = |line: &&str| line.to_ascii_lowercase().contains("error");
    match log.lines().find(is_telling) {
        Some(line) if !log.trim_start().starts_with(line) => format!("{}\n{log}", line.trim()),
        _ => log.trim_start().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::telling_first;

    #[test]
    fn logs_begin_with_what_is_wrong() {
        let log = "Compilation started\nkernel k\nError: no such builtin\nCompilation failed\n";
        assert_eq!(telling_first(log), format!("Error: no such builtin\n{log}"));
        assert_eq!(telling_first("\nerror: x\nmore"), "error: x\nmore");
        assert_eq!(telling_first(""), "");
    }
}
