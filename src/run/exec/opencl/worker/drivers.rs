//! Loads drivers before OpenCL's loader does, each with its own libraries in front.
//!
//! A driver is a compiler: PoCL's and Mesa's come with an LLVM of their own, whose functions have the names of those of
//! the LLVM that kassay is linked with. Loaded as the loader loads it, such a driver takes some from the one, some from
//! the other, and dies of it. What is loaded here with `RTLD_DEEPBIND` stays bound as it is when the loader asks for it
//! again.

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use opencl3::types::cl_platform_id;

use crate::exec::discover::{Vendors, open_library};

/// Where the drivers that kassay has found lie in memory, in its order.
static LOADED: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Loads the drivers. Those that cannot be loaded are left to the loader, which passes over them.
pub fn load(vendors: &Vendors) {
    let paths = vendors.icds.iter().filter_map(|icd| open_library(&icd.library).ok()).filter_map(path_of).collect();
    // Where the user names drivers, the order is the loader's.
    let _ = LOADED.set(if vendors.user.is_some() { Vec::new() } else { paths });
}

/// Sorts platforms as kassay finds their drivers: its own first. A loader may have another order: ocl-icd counts
/// devices.
pub fn sort(platforms: &mut [cl_platform_id]) {
    let loaded = LOADED.get().map(Vec::as_slice).unwrap_or_default();
    platforms.sort_by_key(|platform| {
        // SAFETY: the loader has just given the platform.
        let library = unsafe { library_of(*platform) };
        loaded.iter().position(|path| library.as_ref() == Some(path)).unwrap_or(usize::MAX)
    });
}

/// The path of a library by its handle.
fn path_of(handle: *mut c_void) -> Option<PathBuf> {
    /// The beginning of glibc's `struct link_map`.
    #[repr(C)]
    struct LinkMap {
        address: usize,
        name: *const libc::c_char,
    }
    let mut map: *const LinkMap = std::ptr::null();
    // SAFETY: the handle is that of a library that stays loaded; its map is as said, and its name ends with a zero.
    unsafe {
        let found = libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) == 0;
        (found && !map.is_null()).then(|| path(CStr::from_ptr((*map).name)))
    }
}

/// The library that a platform's functions are in.
///
/// # Safety
/// The platform must be one that the loader has given: it begins with the address of its functions, which is what makes
/// a loader possible.
unsafe fn library_of(platform: cl_platform_id) -> Option<PathBuf> {
    // SAFETY: as said; there are more than a hundred functions, and `dladdr` only looks up the address of the first.
    unsafe {
        let functions: *const *const c_void = *platform.cast();
        let mut about: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr(*functions, &raw mut about) != 0 && !about.dli_fname.is_null();
        found.then(|| path(CStr::from_ptr(about.dli_fname)))
    }
}

fn path(name: &CStr) -> PathBuf {
    let path = PathBuf::from(OsStr::from_bytes(name.to_bytes()));
    path.canonicalize().unwrap_or(path)
}
