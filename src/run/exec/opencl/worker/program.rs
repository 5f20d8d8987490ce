//! Loads code into the device.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};

use kassay_suite::launch::NdRange;
use opencl3::context::Context;
use opencl3::kernel::{
    self, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL_KERNEL_NUM_ARGS, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
};
use opencl3::program::{self, CL_PROGRAM_BUILD_LOG};
use opencl3::types::{cl_context, cl_device_id, cl_int, cl_kernel, cl_platform_id, cl_program};

use super::super::errors;
use super::handles::{Kernel, Memory, Program};
use crate::exec::{FormedSubGroups, Target};

/// OpenCL's error for code of a form that no driver takes.
const CL_INVALID_BINARY: cl_int = -42;

/// The function of the extension cl_khr_il_program, for devices of OpenCL 1.2 and 2.0.
type CreateWithIl = unsafe extern "C" fn(cl_context, *const libc::c_void, libc::size_t, *mut cl_int) -> cl_program;

/// A built program and its one kernel.
#[derive(Debug)]
pub struct LoadedProgram {
    kernel: RefCell<Kernel>,
    /// Whether an argument of the kernel has been set to a pointer. Then NVIDIA's driver takes no buffer for it any
    /// more.
    has_pointers: Cell<bool>,
    entry: CString,
    /// Number of arguments that the kernel takes.
    pub args: u32,
    /// The probe buffer of the last launch, if memory after it is kept for the next one.
    pub kept: RefCell<Option<Memory>>,
    /// Whether images and samplers are what `lower::image_buffers` makes of them. Such code is for devices that
    /// are given plain memory only: sub-buffers, too, may be pointers.
    pub image_buffers: bool,
    program: Program,
}

impl LoadedProgram {
    /// The kernel.
    pub fn kernel(&self) -> cl_kernel {
        self.kernel.borrow().0
    }

    /// The sub-groups that a launch of this range has, as far as the driver tells.
    pub fn sub_groups(&self, device: cl_device_id, range: &NdRange) -> Option<FormedSubGroups> {
        let sizes = range.local?.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        let sizes = &sizes[..range.dims.min(3) as usize];
        let (bytes, sizes) = (size_of_val(sizes), sizes.as_ptr().cast());
        let ask = |what| {
            let answered = kernel::get_kernel_sub_group_info(self.kernel(), device, what, bytes, sizes);
            u32::try_from(answered.ok()?.to_size()).ok().filter(|number| *number > 0)
        };
        let size = ask(CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE)?;
        Some(FormedSubGroups { size, count: ask(CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE) })
    }

    /// Notes that an argument is set to a pointer.
    pub fn note_pointer(&self) {
        // Other devices' kernels take either.
        self.has_pointers.set(self.image_buffers);
    }

    /// Prepares the kernel for the arguments of another launch.
    pub fn renew(&self) {
        if self.has_pointers.replace(false)
            && let Ok(new) = kernel::create_kernel(self.program.0, &self.entry)
        {
            *self.kernel.borrow_mut() = Kernel(new);
        }
    }
}

/// Why a program was refused: OpenCL's error name and the build log.
#[derive(Debug)]
pub struct BuildFailure {
    pub error: String,
    pub log: String,
}

/// Builds `code`, of the form that is given with it, and creates its kernel `entry`.
pub fn load(
    context: &Context,
    platform: cl_platform_id,
    device: cl_device_id,
    (target, code): (Target, &[u8]),
    entry: &str,
    options: &str,
) -> Result<LoadedProgram, BuildFailure> {
    let refused = |step: &str, code: cl_int| BuildFailure {
        error: errors::name(code),
        log: format!("{step}: {}", errors::explain(code)),
    };
    let c_string = |text: &str| {
        CString::new(text)
            .map_err(|_| BuildFailure { error: "CL_INVALID_VALUE".into(), log: format!("a NUL in {text:?}") })
    };
    let (entry_name, options) = (c_string(entry)?, c_string(options)?);
    let raw = match target {
        Target::SpirV => match program::create_program_with_il(context.get(), code) {
            // Missing in the loader or in the driver's dispatch table: the extension may provide it.
            Err(-2001 | -59) => create_with_extension(context, platform, code),
            other => other,
        },
        Target::Ptx => create_program_with_ptx(context, device, code),
        Target::Source => program::create_program_with_source(context.get(), &[&String::from_utf8_lossy(code)]),
        Target::Native => Err(CL_INVALID_BINARY),
    };
    let created = match target {
        Target::Ptx => "clCreateProgramWithBinary",
        Target::Source => "clCreateProgramWithSource",
        Target::SpirV | Target::Native => "clCreateProgramWithIL",
    };
    let program = Program(raw.map_err(|code| refused(created, code))?);
    if let Err(code) = program::build_program(program.0, &[device], &options, None, std::ptr::null_mut()) {
        let log = program::get_program_build_data(program.0, device, CL_PROGRAM_BUILD_LOG).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).trim_matches(['\0', '\n', ' ']).to_owned();
        return Err(BuildFailure { error: errors::name(code), log });
    }
    let kernel = Kernel(
        kernel::create_kernel(program.0, &entry_name)
            .map_err(|code| refused(&format!("clCreateKernel({entry})"), code))?,
    );
    let args =
        kernel::get_kernel_info(kernel.0, CL_KERNEL_NUM_ARGS).map_err(|code| refused("clGetKernelInfo", code))?;
    Ok(LoadedProgram {
        kernel: RefCell::new(kernel),
        has_pointers: Cell::new(false),
        entry: entry_name,
        args: args.to_uint(),
        kept: RefCell::default(),
        image_buffers: false,
        program,
    })
}

/// Creates a program of the text of PTX; the error is OpenCL's.
pub fn create_program_with_ptx(context: &Context, device: cl_device_id, ptx: &[u8]) -> Result<cl_program, cl_int> {
    // NVIDIA's driver takes the text with a NUL at its end.
    let text = [ptx, b"\0"].concat();
    // SAFETY: the device belongs to the context, and the text lives through the call, which copies it.
    unsafe { program::create_program_with_binary(context.get(), &[device], &[&text]) }
}

fn create_with_extension(context: &Context, platform: cl_platform_id, spirv: &[u8]) -> Result<cl_program, cl_int> {
    const MISSING: cl_int = -2001;
    type Finder = unsafe extern "C" fn(cl_platform_id, *const libc::c_char) -> *mut libc::c_void;
    let name: &CStr = c"clGetExtensionFunctionAddressForPlatform";
    // SAFETY: both names are NUL-terminated; the loader is already loaded (a context exists), so this only looks it up.
    let finder = unsafe {
        let loader = libc::dlopen(c"libOpenCL.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        if loader.is_null() { std::ptr::null_mut() } else { libc::dlsym(loader, name.as_ptr()) }
    };
    if finder.is_null() {
        return Err(MISSING);
    }
    // SAFETY: this is the signature that OpenCL 1.2 gives the function of that name.
    let finder = unsafe { std::mem::transmute::<*mut libc::c_void, Finder>(finder) };
    // SAFETY: `platform` came from the loader, the name is NUL-terminated, and `finder` has the signature that it was
    // cast to.
    let function = unsafe { finder(platform, c"clCreateProgramWithILKHR".as_ptr()) };
    if function.is_null() {
        return Err(MISSING);
    }
    // SAFETY: this is the signature that cl_khr_il_program gives the function of that name.
    let create = unsafe { std::mem::transmute::<*mut libc::c_void, CreateWithIl>(function) };
    let mut status = 0;
    // SAFETY: context and bytes live through the call, which copies the module.
    let raw = unsafe { create(context.get(), spirv.as_ptr().cast(), spirv.len(), &raw mut status) };
    if status == 0 { Ok(raw) } else { Err(status) }
}
