//! What the program's handles stand for: objects by handle, with their reference counts, so that a handle that is used
//! again after its release means the new object.
//!
//! One lock for all of them, held for look-ups and never while a driver is called. Where another of the layer's locks
//! is needed, too, this one is taken first.

pub mod device;
mod handle;
pub mod kernel;
pub mod memory;
mod state;

pub use handle::{Handle, key};
pub use state::{Context, Pinned, Queue, State, is_watching, release_queue, retained, state};
