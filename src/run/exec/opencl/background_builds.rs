//! Has programs built by processes of their own before they are loaded. NVIDIA's driver builds one program of a process
//! at a time, whatever the number of threads, but it keeps what it has built in a cache that all processes share: so
//! a process that loads a program which another one has built gets it in milliseconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};

use kassay_base::cache;
use kassay_base::hash;

use crate::exec::{DeviceCode, DeviceInfo, Target};

/// Most processes that build at a time: each opens the device, which takes longer the more do so.
const MOST: usize = 4;

/// Returns how many processes build for an executor whose device takes code of this form.
pub fn builders(target: Target) -> usize {
    if target == Target::Ptx { MOST } else { 0 }
}

/// Returns the file which says that the driver's cache has had a program. `None` if there is no such cache.
pub fn mark(code: &DeviceCode, device: &DeviceInfo) -> Option<PathBuf> {
    let DeviceCode { target: Target::Ptx, bytes, build_options, .. } = code else { return None };
    let parts = [bytes.as_slice(), build_options.as_bytes(), device.name.as_bytes(), device.driver.as_bytes()];
    Some(cache::driver_folder()?.join("built").join(format!("{:032x}", hash::wide(&parts))))
}

/// Creates the file that [`mark`] returned. Without it the program is prebuilt once more.
pub fn set(mark: &Path) {
    let made = mark.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(mark, ""));
    drop(made);
}

/// The programs that are being built, or have been and are not loaded yet.
#[derive(Debug, Default)]
pub struct BackgroundBuilds(Vec<(DeviceCode, JoinHandle<()>)>);

impl BackgroundBuilds {
    /// Has `build` called in the background, unless `most` others are being built. Whether it succeeds is for who loads
    /// the program to find out.
    pub fn begin(&mut self, code: &DeviceCode, most: usize, build: impl FnOnce(&DeviceCode) + Send + 'static) {
        let busy = self.0.iter().filter(|(_, builder)| !builder.is_finished()).count();
        if busy >= most || self.0.iter().any(|(known, _)| known == code) {
            return;
        }
        let mine = code.clone();
        let builder = Builder::new().name("builder".into()).spawn(move || build(&mine));
        self.0.extend(builder.ok().map(|builder| (code.clone(), builder)));
    }

    /// Waits for a program, if it is being built.
    pub fn wait(&mut self, code: &DeviceCode) {
        if let Some(at) = self.0.iter().position(|(known, _)| known == code) {
            // A builder that panicked has built nothing.
            let _ = self.0.swap_remove(at).1.join();
        }
    }
}
