//! What the program's handles stand for: objects by handle, with their reference counts, so that a handle that is used
//! again after its release means the new object.
//!
//! One lock for everything, held for look-ups and never while a driver is called.

pub mod kernel;
pub mod memory;
pub mod program;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use crate::boundary;
use crate::capture::kinds::Kinds;
use crate::live::Table;

/// A handle as a key. It is never looked into.
pub type Handle = usize;

/// All that is known of the program's objects.
#[derive(Default)]
pub struct State {
    serial: u64,
    pub devices: HashMap<Handle, Arc<program::Device>>,
    pub contexts: HashMap<Handle, Context>,
    pub queues: HashMap<Handle, Queue>,
    pub memory: HashMap<Handle, memory::Memory>,
    pub svm: BTreeMap<usize, memory::SvmAllocation>,
    pub samplers: HashMap<Handle, u32>,
    pub programs: HashMap<Handle, program::Program>,
    /// The builds from source whose binaries the program was given, by the binaries' names.
    pub binaries: HashMap<program::Id, Arc<program::Build>>,
    pub kernels: HashMap<Handle, kernel::Kernel>,
    pub user_events: HashSet<Handle>,
    /// The snapshots that are being taken.
    pub watches: Vec<Arc<Watch>>,
    pub kinds: Kinds,
    pub twins: Table,
}

/// A context.
pub struct Context {
    /// The program's own; objects of the context are not counted. There may be none as long as there are queues.
    pub references: u32,
    /// The process that made it (`lifecycle::generation`).
    pub generation: u64,
}

/// A command queue.
pub struct Queue {
    pub references: u32,
    pub device: Handle,
    pub context: Handle,
    /// `CL_QUEUE_PROPERTIES`: out of order, profiling.
    pub properties: u64,
    /// How many snapshots wait for the queue; it is not released to the driver before they are done.
    pub pins: u32,
}

/// The memory of a snapshot that is being taken, and whether another thread has asked for writes to it meanwhile.
pub struct Watch {
    pub roots: Vec<u64>,
    pub disturbed: AtomicBool,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

/// Told when a queue is unpinned.
static UNPINNED: Condvar = Condvar::new();

/// The number of `State::watches`, so that writes need no lock while there are none.
static WATCHES: AtomicUsize = AtomicUsize::new(0);

/// Locks the state. Must not be held while a driver is called.
pub fn state() -> MutexGuard<'static, State> {
    boundary::lock(&STATE)
}

/// Whether a snapshot is being taken.
pub fn is_watching() -> bool {
    WATCHES.load(Ordering::Relaxed) > 0
}

/// Waits until no snapshot uses the queue, and forgets it if this was its last reference. Returns the context if nothing can
/// be launched in it any more.
pub fn release_queue(handle: Handle) -> Option<Handle> {
    let mut state = state();
    // After a fork, the threads that took snapshots are gone; after a failure, they may be.
    while state.kinds.is_current()
        && !boundary::has_stepped_aside()
        && state.queues.get(&handle).is_some_and(|queue| queue.pins > 0)
    {
        let waited = UNPINNED.wait_timeout(state, Duration::from_millis(100));
        state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
    }
    let queue = state.queues.get_mut(&handle)?;
    queue.references -= 1;
    if queue.references > 0 {
        return None;
    }
    let context = state.queues.remove(&handle)?.context;
    state.forget_if_done(context).then_some(context)
}

/// Keeps queues of a context from being released, and its memory watched, until dropped.
pub struct Pinned {
    pub queues: Vec<Handle>,
    pub watch: Arc<Watch>,
}

impl State {
    /// Returns a number that no object had before.
    pub fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Forgets a context to which the program has no reference and in which it has no queue: nothing can be launched in it
    /// any more, but on a queue that is made by way of another object of the context. Returns whether that is so.
    fn forget_if_done(&mut self, context: Handle) -> bool {
        let is_done = self.contexts.get(&context).is_some_and(|context| context.references == 0)
            && !self.queues.values().any(|queue| queue.context == context);
        if is_done {
            self.contexts.remove(&context);
        }
        is_done
    }

    /// Counts a reference to a context less. Returns whether nothing can be launched in it any more.
    pub fn release_context(&mut self, context: Handle) -> bool {
        if let Some(known) = self.contexts.get_mut(&context) {
            known.references = known.references.saturating_sub(1);
        }
        self.forget_if_done(context)
    }

    /// Pins the queues of a context other than `except`, and watches the memory with these roots.
    pub fn pin(&mut self, context: Handle, except: Handle, roots: Vec<u64>) -> Pinned {
        let watch = Arc::new(Watch { roots, disturbed: AtomicBool::new(false) });
        self.watches.push(watch.clone());
        WATCHES.store(self.watches.len(), Ordering::Relaxed);
        let mut queues = Vec::new();
        for (handle, queue) in &mut self.queues {
            if queue.context == context && *handle != except {
                queue.pins += 1;
                queues.push(*handle);
            }
        }
        Pinned { queues, watch }
    }

    /// Notes that a command was asked for that may write the memory with this root. `own` is the snapshot whose launch
    /// does so.
    pub fn disturb(&self, root: u64, own: Option<&Arc<Watch>>) {
        for watch in &self.watches {
            if watch.roots.contains(&root) && !own.is_some_and(|own| Arc::ptr_eq(own, watch)) {
                watch.disturbed.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Pinned {
    /// Whether another thread has asked for writes to the memory.
    pub fn is_disturbed(&self) -> bool {
        self.watch.disturbed.load(Ordering::Relaxed)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // A failure under the lock may have led here.
        if std::thread::panicking() {
            return;
        }
        let mut state = state();
        for handle in &self.queues {
            if let Some(queue) = state.queues.get_mut(handle) {
                queue.pins = queue.pins.saturating_sub(1);
            }
        }
        state.watches.retain(|watch| !Arc::ptr_eq(watch, &self.watch));
        WATCHES.store(state.watches.len(), Ordering::Relaxed);
        drop(state);
        UNPINNED.notify_all();
    }
}

/// Counts a further reference to an object before the driver does. Returns whether it is known.
pub fn retained(count: Option<&mut u32>) -> bool {
    count.map(|count| *count += 1).is_some()
}

/// A handle as a key.
pub fn key(handle: *const c_void) -> Handle {
    handle as Handle
}
