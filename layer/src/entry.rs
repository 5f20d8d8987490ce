//! The exported functions.
//!
//! As a *proxy driver* the library is named by an `.icd` file: a loader asks it for platforms, it opens the real
//! drivers, hands on their platforms as they are, and overwrites entries of their dispatch tables. As an *ICD layer* it
//! is named by `OPENCL_LAYERS` and gives the loader a table. If both happen, calls to drivers whose tables are
//! overwritten pass the layer untouched.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::cl_layer::{
    CL_LAYER_API_VERSION, CL_LAYER_API_VERSION_100, CL_LAYER_NAME, cl_layer_info, cl_layer_properties,
};
use opencl_sys::{
    CL_INVALID_PLATFORM, CL_INVALID_VALUE, CL_PLATFORM_NOT_FOUND_KHR, CL_PLATFORM_VERSION, CL_SUCCESS, cl_int,
    cl_platform_id, cl_platform_info, cl_uint,
};

use crate::boundary::shielded;
use crate::driver::opened::{self, GetFunction, Opened};
use crate::driver::{self, Patch, text};
use crate::lifecycle;
use crate::spool;
use crate::spool::process;
use crate::wrappers::table::{self, Way};

type GetPlatformIds = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;

/// Notes the first call in this process.
fn start(way: &'static str) {
    process::start(way);
    lifecycle::watch();
}

/// The real drivers, opened at the first call.
fn opened() -> &'static [Opened] {
    opened::drivers(clIcdGetPlatformIDsKHR as *const () as usize, || {
        start("proxy");
        // SAFETY: the files are drivers that kassay or the system names.
        spool::config().drivers.iter().filter_map(|path| unsafe { open(path) }).collect()
    })
}

/// Opens a driver as loaders do. One that does not work is left out, as loaders leave it out.
unsafe fn open(path: &Path) -> Option<Opened> {
    let failed = |why: &str| spool::note("driver-not-opened", &format!("{}: {why}", path.display()));
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    let library = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL);
    if library.is_null() {
        let error = libc::dlerror();
        failed(&if error.is_null() { "unknown error".into() } else { CStr::from_ptr(error).to_string_lossy() });
        return None;
    }
    // SAFETY: these are the types of the functions of these names.
    let get_function = libc::dlsym(library, c"clGetExtensionFunctionAddress".as_ptr());
    let get_function: Option<GetFunction> = std::mem::transmute(get_function);
    let get_ids = match get_function {
        Some(get_function) => get_function(c"clIcdGetPlatformIDsKHR".as_ptr()),
        None => std::ptr::null_mut(),
    };
    let get_ids = if get_ids.is_null() { libc::dlsym(library, c"clIcdGetPlatformIDsKHR".as_ptr()) } else { get_ids };
    let get_ids: Option<GetPlatformIds> = std::mem::transmute(get_ids);
    let Some(get_ids) = get_ids.filter(|get_ids| *get_ids as usize != clIcdGetPlatformIDsKHR as *const () as usize)
    else {
        failed("it is no driver for a loader (clIcdGetPlatformIDsKHR)");
        return None;
    };
    let mut count = 0;
    if get_ids(0, std::ptr::null_mut(), &mut count) != CL_SUCCESS || count == 0 {
        failed("it has no platform");
        return None;
    }
    let mut platforms = vec![0_usize; count as usize];
    if get_ids(count, platforms.as_mut_ptr().cast(), std::ptr::null_mut()) != CL_SUCCESS {
        failed("it does not tell its platforms");
        return None;
    }
    for platform in &platforms {
        if patch(*platform as cl_platform_id) == Patch::Impossible {
            spool::note("table-not-writable", &format!("{}: calls to this driver are not seen", path.display()));
        }
    }
    Some(Opened { get_function, listing: get_ids as usize, platforms })
}

/// Overwrites the dispatch table of a platform, as far as its version says that it goes.
unsafe fn patch(platform: cl_platform_id) -> Patch {
    let table = *platform.cast::<*mut cl_icd_dispatch>();
    let version = (*table)
        .clGetPlatformInfo
        .and_then(|get| text(|size, value, size_ret| get(platform, CL_PLATFORM_VERSION, size, value, size_ret)));
    let entries = driver::entries_of_version(version.as_deref().unwrap_or_default());
    driver::patch(table, entries, |wrappers| table::fill(wrappers, Way::Driver))
}

/// Hands on the platforms of the real drivers (`cl_khr_icd`).
///
/// # Safety
/// `platforms` must be null or have room for `room` platforms, `count` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    room: cl_uint,
    platforms: *mut cl_platform_id,
    count: *mut cl_uint,
) -> cl_int {
    if (room == 0 && !platforms.is_null()) || (platforms.is_null() && count.is_null()) {
        return CL_INVALID_VALUE;
    }
    let all: Vec<usize> =
        shielded(|| opened().iter().flat_map(|driver| &driver.platforms).copied().collect()).unwrap_or_default();
    if !count.is_null() {
        *count = cl_uint::try_from(all.len()).unwrap_or(cl_uint::MAX);
    }
    if all.is_empty() {
        return CL_PLATFORM_NOT_FOUND_KHR;
    }
    if !platforms.is_null() {
        all.iter()
            .take(room as usize)
            .enumerate()
            .for_each(|(index, platform)| *platforms.add(index) = *platform as cl_platform_id);
    }
    CL_SUCCESS
}

/// Gives a loader this library's own functions, and programs the drivers', wrapped where they are.
///
/// # Safety
/// `name` must be null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    match CStr::from_ptr(name).to_bytes() {
        b"clIcdGetPlatformIDsKHR" => return clIcdGetPlatformIDsKHR as *mut c_void,
        b"clGetPlatformInfo" => return clGetPlatformInfo as *mut c_void,
        // With these a loader would make tables of its own and pass by the overwritten ones (cl_khr_icd 2.0).
        b"clIcdGetFunctionAddressForPlatformKHR" | b"clIcdSetPlatformDispatchDataKHR" => return std::ptr::null_mut(),
        _ => {}
    }
    let found = shielded(|| {
        opened().iter().find_map(|driver| {
            let address = driver.get_function?(name);
            (!address.is_null()).then(|| (driver.platforms.first().copied().unwrap_or(0), address))
        })
    });
    match found.flatten() {
        Some((platform, address)) => table::wrapped(platform as *const c_void, name, address, Way::Driver),
        None => std::ptr::null_mut(),
    }
}

/// Answers for a real platform; loaders look for this name.
///
/// # Safety
/// As of the same function of a driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: cl_platform_id,
    what: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    if platform.is_null() {
        return CL_INVALID_PLATFORM;
    }
    match (**platform.cast::<*const cl_icd_dispatch>()).clGetPlatformInfo {
        Some(get) => get(platform, what, size, value, size_ret),
        None => CL_INVALID_PLATFORM,
    }
}

/// Tells a loader which kind of layer this is.
///
/// # Safety
/// `value` must be null or have `size` bytes, `size_ret` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetLayerInfo(
    what: cl_layer_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    const NAME: &CStr = c"kassay";
    let version = CL_LAYER_API_VERSION_100.to_ne_bytes();
    let bytes = match what {
        CL_LAYER_API_VERSION => version.as_slice(),
        CL_LAYER_NAME => NAME.to_bytes_with_nul(),
        _ => return CL_INVALID_VALUE,
    };
    if !value.is_null() {
        if size < bytes.len() {
            return CL_INVALID_VALUE;
        }
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast(), bytes.len());
    }
    if !size_ret.is_null() {
        *size_ret = bytes.len();
    }
    CL_SUCCESS
}

/// Gives a loader a table with wrappers in it.
///
/// # Safety
/// `target` must have `entries` pointers; the others must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayer(
    entries: cl_uint,
    target: *const cl_icd_dispatch,
    entries_ret: *mut cl_uint,
    table_ret: *mut *const cl_icd_dispatch,
) -> cl_int {
    if target.is_null() || entries_ret.is_null() || table_ret.is_null() {
        return CL_INVALID_VALUE;
    }
    *entries_ret = entries;
    *table_ret = shielded(|| {
        start("layer");
        driver::init_layer(target, entries as usize, |wrappers| table::fill(wrappers, Way::Layer))
    })
    .unwrap_or(target);
    CL_SUCCESS
}

/// The same for newer loaders.
///
/// # Safety
/// As [`clInitLayer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayerWithProperties(
    entries: cl_uint,
    target: *const cl_icd_dispatch,
    entries_ret: *mut cl_uint,
    table_ret: *mut *const cl_icd_dispatch,
    _properties: *const cl_layer_properties,
) -> cl_int {
    clInitLayer(entries, target, entries_ret, table_ret)
}

/// Called by newer loaders at their end, after exit handlers. Wrappers go on to work.
#[unsafe(no_mangle)]
pub extern "C" fn clDeinitLayer() -> cl_int {
    CL_SUCCESS
}
