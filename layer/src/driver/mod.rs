//! The drivers' original functions, and which driver a handle belongs to.
//!
//! Every OpenCL object begins with a pointer to its driver's dispatch table (`cl_khr_icd`). The proxy overwrites
//! entries of that table and keeps a copy; as an ICD layer, the library gets the loader's table instead. The wrappers
//! come from above, which `fill`s a table with them.

pub mod devices;
pub mod extensions;
pub mod opened;
pub mod programs;
pub mod signature;

use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of, size_of};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{CL_INVALID_OPERATION, CL_SUCCESS, cl_int};

/// The number of pointers in the dispatch table that this crate knows.
pub const ENTRIES: usize = size_of::<cl_icd_dispatch>() / size_of::<usize>();

/// The functions that the wrappers call: a driver's own, or those of the loader below a layer.
pub struct Driver {
    /// The original functions; an entry that the driver or its version lacks is `None`.
    pub table: cl_icd_dispatch,
    /// Where the overwritten table lies; 0 for a layer's.
    address: usize,
}

/// Calls an original function; `else` is the result if there is none.
macro_rules! call {
    ($driver:expr, $entry:ident($($argument:expr),* $(,)?) else $otherwise:expr) => {
        match $driver.table.$entry {
            Some(function) => function($($argument),*),
            None => $otherwise,
        }
    };
    ($driver:expr, $entry:ident($($argument:expr),* $(,)?)) => {
        call!($driver, $entry($($argument),*) else opencl_sys::CL_INVALID_OPERATION)
    };
}
pub(crate) use call;

/// What calls return.
pub trait Outcome {
    /// The result where there is neither a driver nor a layer to call, which does not happen to a loader's call.
    const LOST: Self;

    /// Whether the driver has done, or will do, what it was asked for.
    fn succeeded(&self) -> bool;
}

impl Outcome for cl_int {
    const LOST: cl_int = CL_INVALID_OPERATION;

    fn succeeded(&self) -> bool {
        *self == CL_SUCCESS
    }
}

impl Outcome for *mut c_void {
    const LOST: *mut c_void = std::ptr::null_mut();

    fn succeeded(&self) -> bool {
        !self.is_null()
    }
}

impl Outcome for () {
    const LOST: () = ();

    fn succeeded(&self) -> bool {
        true
    }
}

/// Asks for a text of OpenCL: `ask` takes room, where to write, and where to write how much there is.
pub fn text(ask: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Option<String> {
    let mut size = 0;
    if ask(0, std::ptr::null_mut(), &mut size) != 0 {
        return None;
    }
    let mut bytes = vec![0_u8; size];
    if ask(size, bytes.as_mut_ptr().cast(), std::ptr::null_mut()) != 0 {
        return None;
    }
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// More drivers than any process loads.
const MOST: usize = 32;

/// The drivers whose tables are overwritten; filled from the front, never emptied.
static PATCHED: [AtomicPtr<Driver>; MOST] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];

/// What the ICD layer was told to call; null if the library is not in as one.
static LAYER: AtomicPtr<Driver> = AtomicPtr::new(std::ptr::null_mut());

impl Driver {
    /// Copies the first `entries` pointers of a table. The rest is `None`.
    ///
    /// # Safety
    /// `table` must have `entries` readable pointers.
    unsafe fn copy(table: *const cl_icd_dispatch, entries: usize, address: usize) -> &'static Driver {
        let mut copy: MaybeUninit<cl_icd_dispatch> = MaybeUninit::zeroed();
        std::ptr::copy_nonoverlapping(table.cast::<usize>(), copy.as_mut_ptr().cast::<usize>(), entries.min(ENTRIES));
        // All fields are optional functions or integers, for which zero is a value.
        let table = copy.assume_init();
        Box::leak(Box::new(Driver { table, address }))
    }
}

/// Returns the driver whose overwritten table an object points to.
///
/// # Safety
/// `handle` must be null or an object of a loaded driver, as for the loader that dispatches through it.
pub unsafe fn patched(handle: *const c_void) -> Option<&'static Driver> {
    if handle.is_null() {
        return None;
    }
    let address = *handle.cast::<usize>();
    PATCHED.iter().map_while(|slot| slot.load(Ordering::Acquire).as_ref()).find(|driver| driver.address == address)
}

/// Returns the driver that a call to a driver's wrapper belongs to.
///
/// # Safety
/// As for [`patched`]. A null handle (an extension function called so) belongs to the first driver.
pub unsafe fn of(handle: *const c_void) -> Option<&'static Driver> {
    patched(handle).or_else(|| PATCHED[0].load(Ordering::Acquire).as_ref())
}

/// What a layer's wrapper has to do with a call.
pub enum Layered {
    /// The object's driver has wrappers in its own table, which will see the call.
    Passed(&'static Driver),
    Watched(&'static Driver),
}

/// Returns what a layer's wrapper calls. `None` cannot happen after `clInitLayer`.
///
/// # Safety
/// As for [`patched`].
pub unsafe fn layered(handle: *const c_void) -> Option<Layered> {
    let target = LAYER.load(Ordering::Acquire).as_ref()?;
    Some(if patched(handle).is_some() { Layered::Passed(target) } else { Layered::Watched(target) })
}

/// The functions below the ICD layer.
pub fn layer() -> Option<&'static Driver> {
    // SAFETY: the pointer is null or was leaked by `init_layer`.
    unsafe { LAYER.load(Ordering::Acquire).as_ref() }
}

/// Makes the table that an ICD layer gives its loader: the loader's own with the wrappers that `fill` writes. A second
/// loader in the same process gets the wrappers, too; they go on to call the first one's functions, which dispatch by
/// the handle. It keeps its own list of platforms, which has none.
///
/// # Safety
/// `target` must have `entries` readable pointers.
pub unsafe fn init_layer(
    target: *const cl_icd_dispatch,
    entries: usize,
    fill: impl FnOnce(&mut cl_icd_dispatch),
) -> *const cl_icd_dispatch {
    let is_first = layer().is_none();
    if is_first {
        let driver = Driver::copy(target, entries, 0);
        let made = std::ptr::from_ref(driver).cast_mut();
        let _ = LAYER.compare_exchange(std::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
    }
    let mut table = std::slice::from_raw_parts(target.cast::<usize>(), entries).to_vec();
    for (index, wrapper) in wrapped(fill) {
        if index < entries && table[index] != 0 && (is_first || !is_of_platforms(index)) {
            table[index] = wrapper;
        }
    }
    Box::leak(table.into_boxed_slice()).as_ptr().cast()
}

/// Whether an entry is a loader's own business: what platforms there are, and what it says of a null one.
fn is_of_platforms(index: usize) -> bool {
    [offset_of!(cl_icd_dispatch, clGetPlatformIDs), offset_of!(cl_icd_dispatch, clGetPlatformInfo)]
        .contains(&(index * size_of::<usize>()))
}

/// Lists the wrappers that `fill` writes, with their positions in the dispatch table.
fn wrapped(fill: impl FnOnce(&mut cl_icd_dispatch)) -> impl Iterator<Item = (usize, usize)> {
    let mut table: MaybeUninit<cl_icd_dispatch> = MaybeUninit::zeroed();
    // SAFETY: zero is a value for all fields (see `Driver::copy`), and the table is as many pointers as it is long.
    let words: [usize; ENTRIES] = unsafe {
        fill(table.assume_init_mut());
        std::mem::transmute_copy(table.assume_init_ref())
    };
    words.into_iter().enumerate().filter(|(_, word)| *word != 0)
}

/// Returns how many entries the table of a platform has, by its version ("OpenCL 3.0 …"): tables of older drivers are
/// shorter. The order is that of the Khronos header `CL/cl_icd.h`.
pub fn entries_of_version(version: &str) -> usize {
    let number = version.strip_prefix("OpenCL ").unwrap_or(version);
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let bytes = match (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) {
        (0, _) | (1, 0) => offset_of!(cl_icd_dispatch, clCreateFromGLBuffer),
        (1, 1) => offset_of!(cl_icd_dispatch, clCreateSubDevicesEXT),
        (1, _) => offset_of!(cl_icd_dispatch, clCreateFromGLTexture) + size_of::<usize>(),
        (2, 0) => offset_of!(cl_icd_dispatch, clGetKernelSubGroupInfoKHR),
        (2, 1) => offset_of!(cl_icd_dispatch, clSetProgramReleaseCallback),
        (2, _) => offset_of!(cl_icd_dispatch, clCreateBufferWithProperties),
        _ => offset_of!(cl_icd_dispatch, clSetContextDestructorCallback) + size_of::<usize>(),
    };
    bytes / size_of::<usize>()
}

/// What became of a table that was to be overwritten.
#[derive(Debug, PartialEq, Eq)]
pub enum Patch {
    Done,
    /// It was done before, by this library or by another copy of it.
    Already,
    /// The memory cannot be made writable, or there are too many drivers.
    Impossible,
}

/// Overwrites the entries of a platform's dispatch table for which `fill` has wrappers.
///
/// # Safety
/// `table` must be the table of a loaded driver, with at least `entries` entries.
pub unsafe fn patch(table: *mut cl_icd_dispatch, entries: usize, fill: impl FnOnce(&mut cl_icd_dispatch)) -> Patch {
    let address = table as usize;
    let object = address; // An object is a pointer to its table.
    if patched(std::ptr::from_ref(&object).cast()).is_some() || holds_wrappers(table) {
        return Patch::Already;
    }
    let entries = entries.min(ENTRIES);
    let Some(slot) = PATCHED.iter().find(|slot| slot.load(Ordering::Acquire).is_null()) else {
        return Patch::Impossible;
    };
    let Some(protection) = make_writable(address, entries * size_of::<usize>()) else {
        return Patch::Impossible;
    };
    // The wrappers must find the originals from the first call on.
    slot.store(std::ptr::from_ref(Driver::copy(table, entries, address)).cast_mut(), Ordering::Release);
    for (index, wrapper) in wrapped(fill) {
        let entry = &*table.cast::<AtomicUsize>().add(index);
        // Other threads may be calling through the table.
        if index < entries && entry.load(Ordering::Relaxed) != 0 {
            entry.store(wrapper, Ordering::Release);
        }
    }
    protection.restore();
    Patch::Done
}

/// Whether another copy of this library (loaded from another path) has its wrappers in the table.
unsafe fn holds_wrappers(table: *const cl_icd_dispatch) -> bool {
    let file = |address: usize| {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr(address as *const c_void, &mut info) != 0 && !info.dli_fname.is_null();
        found.then(|| std::ffi::CStr::from_ptr(info.dli_fname).to_bytes().to_vec())
    };
    let name = |path: Vec<u8>| path.rsplit(|byte| *byte == b'/').next().map(<[u8]>::to_vec);
    let theirs = (*table).clEnqueueNDRangeKernel.map_or(0, |function| function as usize);
    file(theirs).and_then(name) == file(entries_of_version as *const () as usize).and_then(name)
}

/// The protection to give back to pages that were made writable.
struct Protection {
    start: usize,
    length: usize,
    flags: Option<i32>,
}

impl Protection {
    fn restore(self) {
        if let Some(flags) = self.flags {
            // SAFETY: these pages had this protection before.
            unsafe { libc::mprotect(self.start as *mut c_void, self.length, flags) };
        }
    }
}

/// Makes `length` bytes at `address` writable. `None` if that is refused.
fn make_writable(address: usize, length: usize) -> Option<Protection> {
    // SAFETY: a query.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    let start = address & !(page - 1);
    let length = (address + length).next_multiple_of(page) - start;
    let old = protection_of(start, start + length);
    if old.is_some_and(|flags| flags & libc::PROT_WRITE != 0) {
        return Some(Protection { start, length, flags: None });
    }
    // SAFETY: the pages hold a table that is data to everybody; it stays readable.
    let status = unsafe { libc::mprotect(start as *mut c_void, length, libc::PROT_READ | libc::PROT_WRITE) };
    (status == 0).then_some(Protection { start, length, flags: old })
}

/// The protection of the pages from `start` to `end`; `None` if it is unknown or not the same for all.
fn protection_of(start: usize, end: usize) -> Option<i32> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let mut parts = line.split_ascii_whitespace();
        let (low, high) = parts.next()?.split_once('-')?;
        let (low, high) = (usize::from_str_radix(low, 16).ok()?, usize::from_str_radix(high, 16).ok()?);
        let flags = parts.next()?.as_bytes();
        let bit = |at: usize, letter: u8, value: i32| if flags.get(at) == Some(&letter) { value } else { 0 };
        (low <= start && end <= high)
            .then(|| bit(0, b'r', libc::PROT_READ) | bit(1, b'w', libc::PROT_WRITE) | bit(2, b'x', libc::PROT_EXEC))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_long_as_its_version_says() {
        let index = |bytes: usize| bytes / size_of::<usize>();
        assert_eq!(
            entries_of_version("OpenCL 1.0 X"),
            index(offset_of!(cl_icd_dispatch, clGetExtensionFunctionAddress)) + 1
        );
        assert!(entries_of_version("OpenCL 1.1") > index(offset_of!(cl_icd_dispatch, clCreateSubBuffer)));
        assert!(entries_of_version("OpenCL 1.1") < index(offset_of!(cl_icd_dispatch, clCreateImage)));
        assert!(entries_of_version("OpenCL 1.2 pocl") < index(offset_of!(cl_icd_dispatch, clSVMAlloc)));
        assert!(entries_of_version("OpenCL 2.1") > index(offset_of!(cl_icd_dispatch, clCreateProgramWithIL)));
        assert_eq!(entries_of_version("OpenCL 3.1 LINUX"), entries_of_version("OpenCL 3.0"));
        assert_eq!(entries_of_version("nonsense"), entries_of_version("OpenCL 1.0"));
    }

    #[test]
    fn entries_stand_where_the_khronos_header_has_them() {
        // cc lays out the table of CL/cl_icd.h; its offsets are compared with those of the Rust type.
        let names = [
            "clGetDeviceIDs",
            "clCreateBuffer",
            "clBuildProgram",
            "clEnqueueNDRangeKernel",
            "clCreateSubBuffer",
            "clCreateImage",
            "clLinkProgram",
            "clCreateCommandQueueWithProperties",
            "clSVMAlloc",
            "clSetKernelArgSVMPointer",
            "clCloneKernel",
            "clCreateProgramWithIL",
            "clSetProgramSpecializationConstant",
            "clCreateBufferWithProperties",
            "clSetContextDestructorCallback",
            "clGetExtensionFunctionAddress",
            "clEnqueueTask",
            "clCreateFromGLTexture",
        ];
        let mut program = "#define CL_TARGET_OPENCL_VERSION 300\n#include <CL/cl_icd.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
        for name in names {
            program += &format!("printf(\"%zu\\n\", offsetof(cl_icd_dispatch, {name}));\n");
        }
        program += "return 0; }\n";
        let folder = tempfile::tempdir().unwrap();
        let (source, binary) = (folder.path().join("offsets.c"), folder.path().join("offsets"));
        std::fs::write(&source, program).unwrap();
        assert!(std::process::Command::new("cc").arg(&source).arg("-o").arg(&binary).status().unwrap().success());
        let output = std::process::Command::new(&binary).output().unwrap().stdout;
        let theirs: Vec<usize> = String::from_utf8(output).unwrap().lines().map(|line| line.parse().unwrap()).collect();
        let ours = [
            offset_of!(cl_icd_dispatch, clGetDeviceIDs),
            offset_of!(cl_icd_dispatch, clCreateBuffer),
            offset_of!(cl_icd_dispatch, clBuildProgram),
            offset_of!(cl_icd_dispatch, clEnqueueNDRangeKernel),
            offset_of!(cl_icd_dispatch, clCreateSubBuffer),
            offset_of!(cl_icd_dispatch, clCreateImage),
            offset_of!(cl_icd_dispatch, clLinkProgram),
            offset_of!(cl_icd_dispatch, clCreateCommandQueueWithProperties),
            offset_of!(cl_icd_dispatch, clSVMAlloc),
            offset_of!(cl_icd_dispatch, clSetKernelArgSVMPointer),
            offset_of!(cl_icd_dispatch, clCloneKernel),
            offset_of!(cl_icd_dispatch, clCreateProgramWithIL),
            offset_of!(cl_icd_dispatch, clSetProgramSpecializationConstant),
            offset_of!(cl_icd_dispatch, clCreateBufferWithProperties),
            offset_of!(cl_icd_dispatch, clSetContextDestructorCallback),
            offset_of!(cl_icd_dispatch, clGetExtensionFunctionAddress),
            offset_of!(cl_icd_dispatch, clEnqueueTask),
            offset_of!(cl_icd_dispatch, clCreateFromGLTexture),
        ];
        assert_eq!(theirs, ours);
    }
}
