//! Commands that write memory: what is written is marked, for launches whose memory was never written, and for
//! snapshots that another thread is taking.

use std::ffi::c_void;

use opencl_sys::{CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, cl_map_flags, cl_mem};

use crate::boundary::shielded;
use crate::driver::Outcome;
use crate::shadow::{self, key};

/// What a command writes.
#[derive(Clone, Copy)]
pub enum Target {
    Memory(cl_mem),
    Svm(*mut c_void),
    Nothing,
}

impl Target {
    /// The target of a map, through which the host may write later.
    pub fn mapped(memory: cl_mem, flags: cl_map_flags) -> Target {
        let write = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
        if flags & write != 0 { Target::Memory(memory) } else { Target::Nothing }
    }

    fn mark(self) {
        match self {
            Target::Memory(memory) => shadow::state().write(key(memory)),
            Target::Svm(pointer) if shadow::is_watching() => shadow::state().write_svm(pointer as usize),
            Target::Svm(_) | Target::Nothing => {}
        }
    }
}

/// Asks the driver for a command and marks what it writes.
pub fn marking<R: Outcome>(target: Target, command: impl FnOnce() -> R) -> R {
    // A snapshot may be taken between the command and the mark below.
    if shadow::is_watching() {
        shielded(|| target.mark());
    }
    let outcome = command();
    if outcome.succeeded() {
        shielded(|| target.mark());
    }
    outcome
}
