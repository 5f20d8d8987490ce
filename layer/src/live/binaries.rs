//! What the driver made of woven modules, for the next processes of the program: in a mutation run each mutant has one,
//! and the same module would be built for each.

use std::ffi::CStr;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

use opencl_sys::{cl_context, cl_device_id, cl_int, cl_program};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::objects::{Kind, Owned};
use crate::driver::{Driver, call, programs};
use crate::spool::{self, config, files};

/// Bytes of a binary at most.
const LARGEST: u64 = 256 << 20;

/// Returns where the binary of a module lies; `None` if no other process is expected to build it. Names of modules tell
/// programs, and these tell devices.
pub fn path(module: &Path, options: &CStr) -> Option<PathBuf> {
    let folder = spool::folder().filter(|_| config().mutant.is_some())?;
    let mut hash = SipHasher13::new();
    hash.write(options.to_bytes());
    let mut file = folder.join(module).into_os_string();
    file.push(format!(".{:032x}.bin", hash.finish128().as_u128()));
    Some(file.into())
}

/// Builds a program from a binary. `None` if there is none that the driver takes: it may have changed meanwhile.
pub unsafe fn load(
    driver: &'static Driver,
    context: usize,
    device: cl_device_id,
    path: &Path,
    options: &CStr,
) -> Option<Owned> {
    let is_small = std::fs::metadata(path).is_ok_and(|about| about.len() <= LARGEST);
    let code = is_small.then(|| std::fs::read(path).ok()).flatten()?;
    let (length, mut binary): (usize, *const u8) = (code.len(), code.as_ptr());
    let (mut status, mut error): (cl_int, cl_int) = (0, 0);
    let program = call!(
        driver,
        clCreateProgramWithBinary(
            context as cl_context, 1, &device, &length, &mut binary, &mut status, &mut error
        ) else std::ptr::null_mut()
    );
    let program = Owned::new(driver, Kind::Program, program, error, "clCreateProgramWithBinary").ok()?;
    let handle: cl_program = program.handle();
    let built = call!(driver, clBuildProgram(handle, 1, &device, options.as_ptr(), None, std::ptr::null_mut()));
    (status == 0 && built == 0).then_some(program)
}

/// Keeps the binary of a program that was built for this device.
pub unsafe fn keep(driver: &Driver, program: &Owned, device: cl_device_id, path: &Path) {
    let Some(folder) = spool::folder().filter(|_| !path.exists()) else { return };
    if let Some(binary) = programs::binary(driver, program.handle(), device) {
        // Without it, the next process builds the module, too.
        let _ = files::write_whole(folder, path, &binary);
    }
}
