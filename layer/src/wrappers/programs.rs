//! Programs: where their code comes from is remembered when they are made, and written when they are built.

use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::sync::Arc;

use opencl_sys::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BUILD_LOG, cl_context, cl_device_id, cl_int, cl_program,
    cl_program_info, cl_uint,
};

use super::BuildCallback;
use crate::boundary::shielded;
use crate::driver::programs::{binary, devices_of, list};
use crate::driver::{Driver, call, text};
use crate::program::includes::{self, Name};
use crate::program::record::{self, Status};
use crate::program::{Build, Header, Origin, Program, SpecialisationConstant};
use crate::shadow::device::describe;
use crate::shadow::{self, key, retained};
use crate::spool::blobs::{self, Piece};
use crate::spool::counts::Header as Counter;
use crate::spool::files::hex;
use crate::spool::process;

const NULL: *mut c_void = std::ptr::null_mut();

fn add(handle: cl_program, origin: impl FnOnce() -> Origin) -> cl_program {
    add_with(handle, || (origin(), Vec::new()))
}

/// Remembers a program whose source includes something.
fn add_with(handle: cl_program, about: impl FnOnce() -> (Origin, Vec<Name>)) -> cl_program {
    if !handle.is_null() {
        shielded(|| {
            let (origin, includes) = about();
            let program =
                Program { references: 1, origin, constants: Vec::new(), includes, build: None, same_as: None };
            shadow::state().programs.insert(key(handle), program);
            process::count(Counter::Programs);
        });
    }
    handle
}

pub unsafe fn create_with_source(
    driver: &'static Driver,
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
    error: *mut cl_int,
) -> cl_program {
    let program = call!(driver, clCreateProgramWithSource(context, count, strings, lengths, error) else NULL);
    // SAFETY: the driver has taken the strings, so there are `count` of them.
    add_with(program, || {
        let piece = |index: usize| {
            let string = *strings.add(index);
            let length = if lengths.is_null() { 0 } else { *lengths.add(index) };
            match length {
                0 => CStr::from_ptr(string).to_bytes(),
                length => std::slice::from_raw_parts(string.cast(), length),
            }
        };
        let pieces: Vec<&[u8]> = (0..count as usize).map(piece).collect();
        let includes = match &pieces[..] {
            [only] => includes::names(only),
            several => includes::names(&several.concat()),
        };
        (Origin::Source { pieces: pieces.into_iter().map(blobs::keep_code).collect() }, includes)
    })
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn create_with_binary(
    driver: &'static Driver,
    context: cl_context,
    count: cl_uint,
    devices: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const c_uchar,
    status: *mut cl_int,
    error: *mut cl_int,
) -> cl_program {
    let program =
        call!(driver, clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, error) else NULL);
    add(program, || {
        // Of several devices, one may have had no good binary.
        let piece = |index: usize| {
            let (from, length) = (*binaries.add(index), *lengths.add(index));
            (!from.is_null()).then(|| blobs::keep_code(std::slice::from_raw_parts(from, length)))
        };
        Origin::Binary { binary: (0..count as usize).filter_map(piece).collect() }
    });
    if !program.is_null() {
        shielded(|| recognise(program));
    }
    program
}

/// Remembers what a program from binaries was built from, if this process was given them.
fn recognise(program: cl_program) {
    let mut state = shadow::state();
    let Some(known) = state.programs.get(&key(program)) else { return };
    let Origin::Binary { binary } = &known.origin else { return };
    let mut builds = binary.iter().map(|piece| state.binaries.get(&piece.blob).cloned());
    let Some(Some(first)) = builds.next() else { return };
    if builds.all(|build| build.is_some_and(|build| build.repeats(&first)))
        && let Some(known) = state.programs.get_mut(&key(program))
    {
        known.same_as = Some(first);
    }
}

pub unsafe fn get_info(
    driver: &'static Driver,
    program: cl_program,
    what: cl_program_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    let result = call!(driver, clGetProgramInfo(program, what, size, value, size_ret));
    if result == 0 && what == CL_PROGRAM_BINARIES && !value.is_null() {
        shielded(|| remember(driver, program, value.cast(), size / size_of::<*const u8>()));
    }
    result
}

/// Remembers what the binaries were built from that a program is given: it may make a program of them.
unsafe fn remember(driver: &Driver, program: cl_program, binaries: *const *const u8, room: usize) {
    let build = shadow::state().programs.get(&key(program)).and_then(|known| known.build.clone());
    let Some(build) = build.filter(|build| matches!(build.origin, Origin::Source { .. })) else { return };
    let sizes: Vec<usize> = list(driver, program, CL_PROGRAM_BINARY_SIZES, 0);
    for (index, length) in sizes.into_iter().enumerate().take(room) {
        let from = *binaries.add(index);
        // Null means that the program wants none for this device.
        if !from.is_null() && length > 0 {
            let name = blobs::name_of(std::slice::from_raw_parts(from, length));
            shadow::state().binaries.insert(name, Arc::clone(&build));
        }
    }
}

pub unsafe fn create_with_built_in_kernels(
    driver: &'static Driver,
    context: cl_context,
    count: cl_uint,
    devices: *const cl_device_id,
    names: *const c_char,
    error: *mut cl_int,
) -> cl_program {
    let program = call!(driver, clCreateProgramWithBuiltInKernels(context, count, devices, names, error) else NULL);
    let program = add(program, || Origin::BuiltIn { kernels: CStr::from_ptr(names).to_string_lossy().into_owned() });
    if !program.is_null() {
        // Its kernels are there without a build.
        shielded(|| built(driver, program, "build", None, Vec::new(), Status::Success));
    }
    program
}

pub unsafe fn create_with_il(
    driver: &'static Driver,
    context: cl_context,
    il: *const c_void,
    length: usize,
    error: *mut cl_int,
) -> cl_program {
    added_with_il(call!(driver, clCreateProgramWithIL(context, il, length, error) else NULL), il, length)
}

/// Remembers a program made from an intermediate language, which the driver has read.
///
/// # Safety
/// If the program is not null, there must be `length` bytes at `il`.
pub unsafe fn added_with_il(program: cl_program, il: *const c_void, length: usize) -> cl_program {
    add(program, || Origin::Il { il: blobs::keep_code(std::slice::from_raw_parts(il.cast(), length)) })
}

pub unsafe fn set_specialization_constant(
    driver: &'static Driver,
    program: cl_program,
    id: cl_uint,
    size: usize,
    value: *const c_void,
) -> cl_int {
    let status = call!(driver, clSetProgramSpecializationConstant(program, id, size, value));
    if status == 0 && !value.is_null() {
        shielded(|| {
            let value = hex(std::slice::from_raw_parts(value.cast(), size));
            if let Some(program) = shadow::state().programs.get_mut(&key(program)) {
                program.constants.retain(|constant| constant.id != id);
                program.constants.push(SpecialisationConstant { id, value });
                program.constants.sort_by_key(|constant| constant.id);
            }
        });
    }
    status
}

/// A C string that the driver has read; null is none.
unsafe fn string(text: *const c_char) -> Option<String> {
    (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
}

fn status(result: cl_int, is_asynchronous: bool) -> Status {
    match result {
        0 if is_asynchronous => Status::Unknown,
        0 => Status::Success,
        error => Status::Error(error),
    }
}

/// Errors after which there may have been a build: its log is worth keeping. After others, the arguments were not good.
fn was_tried(result: cl_int) -> bool {
    matches!(result, 0 | opencl_sys::CL_BUILD_PROGRAM_FAILURE | opencl_sys::CL_COMPILE_PROGRAM_FAILURE)
}

pub unsafe fn build(
    driver: &'static Driver,
    program: cl_program,
    count: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    notify: BuildCallback,
    data: *mut c_void,
) -> cl_int {
    let result = call!(driver, clBuildProgram(program, count, devices, options, notify, data));
    if was_tried(result) {
        shielded(|| built(driver, program, "build", string(options), Vec::new(), status(result, notify.is_some())));
    }
    result
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn compile(
    driver: &'static Driver,
    program: cl_program,
    count: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    headers: cl_uint,
    header_programs: *const cl_program,
    header_names: *mut *const c_char,
    notify: BuildCallback,
    data: *mut c_void,
) -> cl_int {
    let result = call!(
        driver,
        clCompileProgram(program, count, devices, options, headers, header_programs, header_names, notify, data)
    );
    if was_tried(result) {
        shielded(|| {
            let header = |index: usize| {
                let pieces = match shadow::state()
                    .programs
                    .get(&key(*header_programs.add(index)))
                    .map(|program| &program.origin)
                {
                    Some(Origin::Source { pieces }) => pieces.clone(),
                    _ => Vec::new(),
                };
                Header { name: string(*header_names.add(index)).unwrap_or_default(), pieces }
            };
            let headers = (0..headers as usize).map(header).collect();
            built(driver, program, "compile", string(options), headers, status(result, notify.is_some()));
        });
    }
    result
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn link(
    driver: &'static Driver,
    context: cl_context,
    count: cl_uint,
    devices: *const cl_device_id,
    options: *const c_char,
    inputs: cl_uint,
    input_programs: *const cl_program,
    notify: BuildCallback,
    data: *mut c_void,
    error: *mut cl_int,
) -> cl_program {
    let mut result = 0;
    let program = call!(
        driver,
        clLinkProgram(context, count, devices, options, inputs, input_programs, notify, data, &mut result) else NULL
    );
    if !error.is_null() {
        *error = result;
    }
    if !program.is_null() {
        shielded(|| {
            let builds: Vec<Option<Arc<Build>>> = (0..inputs as usize)
                .map(|index| shadow::state().programs.get(&key(*input_programs.add(index)))?.build.clone())
                .collect();
            let device = devices_of(driver, program).first().map(|device| describe(driver, *device));
            let id = |build: &Option<Arc<Build>>| match (build, &device) {
                (Some(build), Some(device)) => build.id(device),
                _ => String::new(),
            };
            add(program, || Origin::Linked { inputs: builds.iter().map(id).collect() });
            built(driver, program, "link", string(options), Vec::new(), status(result, notify.is_some()));
        });
    }
    program
}

/// Remembers a build and writes the program, for each of its devices.
unsafe fn built(
    driver: &Driver,
    program: cl_program,
    stage: &'static str,
    options: Option<String>,
    headers: Vec<Header>,
    status: Status,
) {
    let state = shadow::state();
    let Some(known) = state.programs.get(&key(program)) else { return };
    let (origin, constants, includes) = (known.origin.clone(), known.constants.clone(), known.includes.clone());
    let same = known.same_as.clone();
    drop(state);
    let build = match same {
        Some(same) => Build::clone(&same),
        None => {
            let directory = std::env::current_dir().unwrap_or_default();
            let includes = includes::copy(includes, options.as_deref(), &directory);
            Build { origin, stage, options, headers, constants, includes }
        }
    };
    let build = match shadow::state().programs.get_mut(&key(program)) {
        Some(known) => {
            let build = match &known.build {
                Some(earlier) if build.repeats(earlier) => earlier.clone(),
                _ => Arc::new(build),
            };
            known.build = Some(build.clone());
            build
        }
        None => return,
    };
    for device in devices_of(driver, program) {
        let about = describe(driver, device);
        let id = build.id(&about);
        let log = |()| {
            text(|size, value, size_ret| {
                call!(driver, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, value, size_ret))
            })
        };
        let log = matches!(status, Status::Error(_)).then_some(()).and_then(log);
        let has_source = matches!(build.origin, Origin::Source { .. });
        let binary =
            || (status == Status::Success && !has_source).then(|| binary_of(driver, program, device)).flatten();
        record::write(&build, &about, &id, status, log, binary);
    }
}

/// What the driver hands out for one device.
unsafe fn binary_of(driver: &Driver, program: cl_program, device: cl_device_id) -> Option<Piece> {
    binary(driver, program, device).map(|binary| blobs::keep_code(&binary))
}

pub unsafe fn retain(driver: &'static Driver, program: cl_program) -> cl_int {
    let known =
        shielded(|| retained(shadow::state().programs.get_mut(&key(program)).map(|program| &mut program.references)));
    let result = call!(driver, clRetainProgram(program));
    if result != 0 && known == Some(true) {
        shielded(|| forget(program));
    }
    result
}

pub unsafe fn release(driver: &'static Driver, program: cl_program) -> cl_int {
    shielded(|| forget(program));
    call!(driver, clReleaseProgram(program))
}

fn forget(program: cl_program) {
    let mut state = shadow::state();
    if let Some(known) = state.programs.get_mut(&key(program)) {
        known.references -= 1;
        if known.references == 0 {
            state.programs.remove(&key(program));
        }
    }
}
