//! The real drivers that the proxy has opened.

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

/// Gives functions by their names.
pub type GetFunction = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// A real driver.
pub struct Opened {
    pub get_function: Option<GetFunction>,
    /// What it lists its platforms by.
    pub listing: usize,
    pub platforms: Vec<usize>,
}

struct All {
    drivers: Vec<Opened>,
    /// What the proxy itself lists platforms by.
    listing: usize,
}

static ALL: OnceLock<All> = OnceLock::new();

/// The drivers, which `open` opens at the first call. A thread that comes meanwhile waits, as it would for the loader.
/// `listing` is what the proxy lists platforms by.
pub fn drivers(listing: usize, open: impl FnOnce() -> Vec<Opened>) -> &'static [Opened] {
    &ALL.get_or_init(|| All { drivers: open(), listing }).drivers
}

/// The platforms of the drivers, if a loader has asked for them.
pub fn platforms() -> Vec<usize> {
    ALL.get().into_iter().flat_map(|all| &all.drivers).flat_map(|driver| driver.platforms.iter().copied()).collect()
}

/// The functions by which the proxy and the drivers list their platforms.
pub fn listing_functions() -> Vec<usize> {
    let of = |all: &All| all.drivers.iter().map(|driver| driver.listing).chain([all.listing]).collect();
    ALL.get().map(of).unwrap_or_default()
}
