//! All that is known of the program's objects, under one lock.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use super::Handle;
use super::kernel::{Argument, Kernel};
use super::memory::{Memory, SvmAllocation};
use crate::boundary;
use crate::driver::devices::Device;
use crate::generation;
use crate::lock::lock;
use crate::program::{Build, Program};
use crate::spool::blobs::Id;

/// All that is known of the program's objects.
#[derive(Default)]
pub struct State {
    serial: u64,
    /// The process whose snapshots and kinds of kernels these are.
    generation: u64,
    pub devices: HashMap<Handle, Arc<Device>>,
    pub contexts: HashMap<Handle, Context>,
    pub queues: HashMap<Handle, Queue>,
    pub memory: HashMap<Handle, Memory>,
    pub svm: BTreeMap<usize, SvmAllocation>,
    pub samplers: HashMap<Handle, u32>,
    pub programs: HashMap<Handle, Program>,
    /// The builds from source whose binaries the program was given, by the binaries' names.
    pub binaries: HashMap<Id, Arc<Build>>,
    pub kernels: HashMap<Handle, Kernel>,
    pub user_events: HashSet<Handle>,
    /// The snapshots that are being taken.
    pub watches: Vec<Arc<Watch>>,
}

/// A context.
pub struct Context {
    /// The program's own; objects of the context are not counted. There may be none as long as there are queues.
    pub references: u32,
    /// The process that made it (`generation`).
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

/// More arguments than a kernel can have; an index above is not from a successful call.
const MOST_ARGUMENTS: usize = 65_536;

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

/// Notified when a queue is unpinned.
static UNPINNED: Condvar = Condvar::new();

/// The number of `State::watches`, so that writes need no lock while there are none.
static WATCHES: AtomicUsize = AtomicUsize::new(0);

/// Locks the state. Must not be held while a driver is called.
pub fn state() -> MutexGuard<'static, State> {
    lock(&STATE)
}

/// Whether a snapshot is being taken.
pub fn is_watching() -> bool {
    WATCHES.load(Ordering::Relaxed) > 0
}

/// Waits until no snapshot uses the queue, and forgets it if this was its last reference. Returns the context if
/// nothing can be launched in it any more.
pub fn release_queue(handle: Handle) -> Option<Handle> {
    let mut state = state();
    // After a fork, the threads that took snapshots are gone; after a failure, they may be.
    while state.is_current()
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
    /// Whether no process was forked since the snapshots and the kinds of kernels were last forgotten.
    pub fn is_current(&self) -> bool {
        self.generation == generation::current()
    }

    /// Begins anew in a forked child: its launches are counted by themselves, and the threads whose snapshots these
    /// were are not here.
    pub fn begin_anew(&mut self) {
        self.generation = generation::current();
        self.kernels.values_mut().for_each(|kernel| kernel.kind = None);
        self.watches.clear();
        self.queues.values_mut().for_each(|queue| queue.pins = 0);
    }

    /// Returns a number that no object had before.
    pub fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Forgets a context to which the program has no reference and in which it has no queue: nothing can be launched in
    /// it any more, but on a queue that is made by way of another object of the context. Returns whether that is so.
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

impl State {
    /// Marks the memory of an object as written; tells the snapshots that have it.
    pub fn write(&mut self, handle: Handle) {
        let Some(memory) = self.memory.get_mut(&handle) else { return };
        memory.written = true;
        let (root, serial) = (memory.root, memory.serial);
        if root != serial
            && let Some(whole) = self.memory.values_mut().find(|other| other.serial == root)
        {
            whole.written = true;
        }
        self.disturb(root, None);
    }

    /// Tells the snapshots that have the allocation which `pointer` points into.
    pub fn write_svm(&mut self, pointer: usize) {
        if let Some((_, allocation)) = self.svm_at(pointer) {
            self.disturb(allocation.serial, None);
        }
    }

    /// Finds the allocation that `pointer` points into, with its address.
    pub fn svm_at(&self, pointer: usize) -> Option<(usize, &SvmAllocation)> {
        let (base, allocation) = self.svm.range(..=pointer).next_back()?;
        (pointer - base < allocation.size.max(1)).then_some((*base, allocation))
    }

    /// Whether the host or a kernel may have written to the memory that an object has or shares.
    pub fn is_written(&self, memory: &Memory) -> bool {
        memory.written
            || self
                .memory
                .values()
                .any(|other| other.root == memory.root && other.serial != memory.serial && other.written)
    }

    /// Forgets an object when its last reference goes. Sub-buffers live on.
    pub fn release_memory(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.references -= 1;
            if memory.references == 0 {
                let gone = self.memory.remove(&handle);
                if let Some(gone) = gone.filter(|gone| gone.written && gone.root == gone.serial) {
                    // What is known of the whole is kept with its parts.
                    self.memory.values_mut().filter(|part| part.root == gone.root).for_each(|part| part.written = true);
                }
            }
        }
    }
}

impl State {
    /// Adds a kernel that a driver has just made.
    pub fn add_kernel(&mut self, handle: Handle, name: &str, build: Arc<Build>) {
        let kernel = Kernel {
            references: 1,
            name: name.into(),
            build,
            arguments: Vec::new(),
            stamps: Vec::new(),
            settings: Arc::default(),
            settings_stamp: 0,
            indirect: Vec::new(),
            kind: None,
            marked: true,
        };
        self.kernels.insert(handle, kernel);
    }

    /// Notes a setting of `clSetKernelExecInfo`.
    pub fn set_exec_info(&mut self, kernel: Handle, what: u32, bytes: Box<[u8]>) {
        let stamp = self.serial();
        if let Some(kernel) = self.kernels.get_mut(&kernel) {
            Arc::make_mut(&mut kernel.settings).insert(what, bytes);
            kernel.settings_stamp = stamp;
        }
    }

    /// Sets an argument. `value` is called only if the kernel is known.
    pub fn set_argument(&mut self, kernel: Handle, index: usize, value: impl FnOnce(&State) -> Argument) {
        if index >= MOST_ARGUMENTS || !self.kernels.contains_key(&kernel) {
            return;
        }
        let value = value(self);
        let stamp = self.serial();
        if let Entry::Occupied(mut entry) = self.kernels.entry(kernel) {
            let kernel = entry.get_mut();
            if kernel.arguments.len() <= index {
                kernel.arguments.resize(index + 1, Argument::Unset);
                kernel.stamps.resize(index + 1, 0);
            }
            kernel.arguments[index] = value;
            kernel.stamps[index] = stamp;
            kernel.marked = false;
        }
    }

    /// Marks the memory that a launched kernel has as arguments as written.
    pub fn mark_arguments(&mut self, kernel: Handle) {
        let Some(entry) = self.kernels.get_mut(&kernel).filter(|kernel| !kernel.marked) else { return };
        entry.marked = true;
        let handles: Vec<Handle> = entry
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Value { bytes, memory: Some(_) } => bytes.as_handle(),
                _ => None,
            })
            .collect();
        for handle in handles {
            if let Some(memory) = self.memory.get_mut(&handle) {
                memory.written = true;
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
