//! Which platforms come first, where kassay's own drivers stand in because neither the user nor the system names one.
//!
//! A program may have platforms of its own all the same: loaders of packages also look in folders of their own (that of
//! pyopencl's wheels in `PYOPENCL_HOME`), but after the folder through which the proxy comes in. As a layer, the
//! library hands on the program's own platforms first. A loader without layers lists them itself; then there is only a
//! note.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Once;

use opencl_sys::{
    CL_INVALID_OPERATION, CL_INVALID_PLATFORM, CL_SUCCESS, cl_int, cl_platform_id, cl_platform_info, cl_uint,
};

use crate::boundary::shielded;
use crate::driver::{self, Driver, call, opened};
use crate::spool;

/// The platforms of kassay's own drivers, if these stand in and a loader has asked for them.
fn stand_ins() -> Vec<usize> {
    if spool::config().stand_in { opened::platforms() } else { Vec::new() }
}

/// The platforms of the loader, the program's own first; `None` if there are none of both kinds.
unsafe fn own_first(loader: &Driver) -> Option<Vec<cl_platform_id>> {
    let stand_ins = stand_ins();
    if stand_ins.is_empty() {
        return None;
    }
    let mut count = 0;
    if call!(loader, clGetPlatformIDs(0, std::ptr::null_mut(), &mut count)) != CL_SUCCESS {
        return None;
    }
    let mut all: Vec<cl_platform_id> = vec![std::ptr::null_mut(); count as usize];
    if call!(loader, clGetPlatformIDs(count, all.as_mut_ptr(), std::ptr::null_mut())) != CL_SUCCESS {
        return None;
    }
    let (last, first): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|platform| stand_ins.contains(&(*platform as usize)));
    (!first.is_empty() && !last.is_empty()).then(|| [first, last].concat())
}

/// Lists the platforms.
pub unsafe extern "C" fn get_ids(room: cl_uint, platforms: *mut cl_platform_id, count: *mut cl_uint) -> cl_int {
    let Some(loader) = driver::layer() else { return CL_INVALID_OPERATION };
    let status = call!(loader, clGetPlatformIDs(room, platforms, count));
    if status == CL_SUCCESS
        && !platforms.is_null()
        && let Some(all) = shielded(|| own_first(loader)).flatten()
    {
        all.iter().take(room as usize).enumerate().for_each(|(index, platform)| *platforms.add(index) = *platform);
    }
    status
}

/// Returns the platform that a null one stands for, if the loader lets it stand for its first one and that is not the
/// program's own. The user's `OCL_ICD_DEFAULT_PLATFORM` is a number in the list.
pub unsafe fn default() -> Option<cl_platform_id> {
    let loader = driver::layer()?;
    let all = shielded(|| own_first(loader)).flatten()?;
    let mut count = 0;
    let (none, any) = (std::ptr::null_mut(), opencl_sys::CL_DEVICE_TYPE_ALL);
    if call!(loader, clGetDeviceIDs(none, any, 0, std::ptr::null_mut(), &mut count)) == CL_INVALID_PLATFORM {
        return None;
    }
    let number = std::env::var("OCL_ICD_DEFAULT_PLATFORM").map_or(Some(0), |number| number.parse().ok());
    all.get(number?).copied()
}

/// Answers for a platform.
pub unsafe extern "C" fn get_info(
    platform: cl_platform_id,
    what: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    let Some(loader) = driver::layer() else { return CL_INVALID_OPERATION };
    let platform = if platform.is_null() { default().unwrap_or(platform) } else { platform };
    call!(loader, clGetPlatformInfo(platform, what, size, value, size_ret))
}

/// Tells kassay, at the first context, that the loader has no layers but has drivers of the program's own.
pub fn note_order() {
    static TOLD: Once = Once::new();
    if stand_ins().is_empty() || driver::layer().is_some() {
        return;
    }
    TOLD.call_once(|| {
        for name in other_drivers() {
            let text = format!(
                "the program's OpenCL loader takes no layers: kassay's own platform may come before the program's ({name}), so that the \
                 first platform is another one than without kassay; name the program's drivers in OCL_ICD_VENDORS"
            );
            spool::note("kassay-first", &text);
        }
    });
}

/// The libraries of drivers in this process that the proxy has not opened.
fn other_drivers() -> Vec<String> {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> libc::c_int {
        let name = (*info).dlpi_name;
        if !name.is_null() && *name != 0 {
            (*names.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
        }
        0
    }
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the function gets the list, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut names).cast()) };
    let known = opened::listing_functions();
    let is_driver = |name: &CString| {
        // SAFETY: the library is loaded already, and the handle is given back.
        let address = unsafe {
            let library = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            let address = if library.is_null() { std::ptr::null_mut() } else { libc::dlsym(library, LISTING.as_ptr()) };
            if !library.is_null() {
                libc::dlclose(library);
            }
            address
        };
        // What a library depends on is searched, too.
        !address.is_null() && !known.contains(&(address as usize)) && file_of(address).as_deref() == Some(name)
    };
    names.iter().filter(|name| is_driver(name)).map(|name| name.to_string_lossy().into_owned()).collect()
}

/// What drivers list their platforms by (`cl_khr_icd`).
const LISTING: &CStr = c"clIcdGetPlatformIDsKHR";

/// Returns the file that a function is from, as it was loaded.
fn file_of(address: *const c_void) -> Option<CString> {
    // SAFETY: zero is a value for all fields, and the name, if there is one, ends with a zero.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let is_found = libc::dladdr(address, &mut info) != 0 && !info.dli_fname.is_null();
        is_found.then(|| CStr::from_ptr(info.dli_fname as *const c_char).to_owned())
    }
}
