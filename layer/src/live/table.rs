//! What there is of woven programs in this process: answers by program, woven code by context, files of probe buffers.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use super::ask::{self, Compare, Left, Weave};
use super::once::Once;
use super::probes::{Mapping, Reader};
use super::replacement::Replacement;
use super::reply::{self, Why};
use super::woven::Woven;
use crate::boundary::shielded;
use crate::driver::Driver;
use crate::generation;
use crate::lock::lock;
use crate::shadow::{self, Handle};
use crate::spool::blobs::Id;
use crate::spool::{self, About, config, process};

type Answer = Arc<Once<Result<Arc<reply::Woven>, Why>>>;
/// A program, a kernel's name and the sizes of its arguments.
type Probed = (Id, String, Vec<u64>);

/// What becomes of the launches of a kernel object on a device.
pub struct Slot {
    pub device: Handle,
    pub context: Handle,
    /// `None`: they run as they are.
    pub replacement: Option<Arc<Replacement>>,
    generation: u64,
}

impl Slot {
    pub fn new(device: Handle, context: Handle, replacement: Option<Arc<Replacement>>) -> Slot {
        Slot { device, context, replacement, generation: generation::current() }
    }

    /// Releases the replacement of a kernel object that has gone. A forked child leaves its parent's alone.
    pub fn release(self) {
        if self.generation != generation::current() {
            std::mem::forget(self);
        }
    }
}

/// All of it, of one process.
#[derive(Default)]
pub struct Table {
    generation: u64,
    answers: HashMap<Id, Answer>,
    /// By context, device and program.
    woven: HashMap<(Handle, Handle, Id), Arc<Woven>>,
    /// By kernel object, one for each device that it was launched on; not shared with clones.
    slots: HashMap<Handle, Vec<Slot>>,
    readers: HashMap<(Handle, Handle), Arc<Reader>>,
    mappings: HashMap<Probed, Vec<Arc<Mapping>>>,
    probes: usize,
    reported: HashSet<(&'static str, Id, String, String)>,
    /// Why kassay is not asked any more.
    silent: Option<Why>,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// Locks the table. Must not be held while a driver is called.
pub fn table() -> MutexGuard<'static, Table> {
    lock(&TABLE)
}

impl Table {
    /// Whether this is the table of this process, not of the one that it was forked from.
    pub fn is_current(&self) -> bool {
        self.generation == generation::current()
    }

    /// Begins anew in a forked child. The parent's objects are not even released here.
    pub fn begin_anew_in_child(&mut self) {
        if self.is_current() {
            return;
        }
        let parent = std::mem::replace(self, Table { generation: generation::current(), ..Table::default() });
        std::mem::forget(parent);
    }

    /// Removes what there is in a context. It must be dropped without a lock.
    pub fn remove(&mut self, context: Handle) -> (Vec<Arc<Woven>>, Vec<Slot>) {
        self.readers.retain(|(of, _), _| *of != context);
        let slots = self.slots.values_mut().flat_map(|slots| slots.extract_if(.., |slot| slot.context == context));
        let slots = slots.collect();
        (self.woven.extract_if(|(of, _, _), _| *of == context).map(|(_, woven)| woven).collect(), slots)
    }

    /// Finds what becomes of the launches of a kernel object on a device.
    pub fn slot(&self, kernel: Handle, device: Handle, context: Handle) -> Option<&Slot> {
        self.slots.get(&kernel)?.iter().find(|slot| (slot.device, slot.context) == (device, context))
    }

    pub fn add_slot(&mut self, kernel: Handle, slot: Slot) {
        self.slots.entry(kernel).or_default().push(slot);
    }

    /// Removes all of a kernel object. They must be released without a lock.
    pub fn remove_slots(&mut self, kernel: Handle) -> Vec<Slot> {
        self.slots.remove(&kernel).unwrap_or_default()
    }

    pub fn all(&self) -> Vec<Arc<Woven>> {
        self.woven.values().cloned().collect()
    }
}

/// How long kassay may take.
fn limit() -> Duration {
    Duration::from_millis(config().weave_timeout_ms)
}

/// Returns a program's woven code in a context; asks kassay for it at the first launch.
pub fn woven(driver: &'static Driver, context: Handle, device: Handle, program: &Id) -> Result<Arc<Woven>, Why> {
    let answer = {
        let state = shadow::state();
        match state.contexts.get(&context) {
            Some(known) if known.generation == generation::current() => {}
            // What the driver lets a child do with its parent's objects is nothing to build on.
            Some(_) => return Err(Why::new("forked", "the context was made before the process was forked")),
            None => return Err(Why::new("unknown-context", "the context is released, or was not seen being made")),
        }
        drop(state);
        table().answers.entry(program.clone()).or_default().clone()
    };
    let reply = answer
        .get(limit(), || ask(program).map(Arc::new))
        .ok_or_else(|| Why::new(reply::BUSY, "another thread waits for kassay's answer for a long time"))??;
    let mut table = table();
    let reader = table.readers.entry((context, device)).or_default().clone();
    let make = || Arc::new(Woven::new(driver, (context, device), program.clone(), reply, reader, limit(), watch_exit));
    Ok(table.woven.entry((context, device, program.clone())).or_insert_with(make).clone())
}

fn ask(program: &Id) -> Result<reply::Woven, Why> {
    let process = process::current().ok_or_else(no_kassay)?;
    let line = send(&Weave::new(program, &process.name, config().mutant.as_deref()))?;
    reply::parse(&line)
}

fn no_kassay() -> Why {
    Why::new("no-answer", "there is no kassay to ask")
}

fn send(request: &impl serde::Serialize) -> Result<Vec<u8>, Why> {
    if let Some(why) = table().silent.clone() {
        return Err(why);
    }
    let socket = config().socket.as_deref().ok_or_else(no_kassay)?;
    ask::ask(socket, request, limit()).inspect_err(|why| {
        // One wait is enough.
        if why.reason == "timeout" {
            table().silent = Some(why.clone());
        }
    })
}

/// Asks kassay of two kernels' results whether they are the same but for the rounding of floats. Returns the positions
/// of those that are not, each with a message.
pub fn compare(program: &Id, kernel: &str, memory: &[Left]) -> Result<Vec<(usize, String)>, Why> {
    let spool = spool::folder().ok_or_else(no_kassay)?;
    reply::parse_compared(&send(&Compare::new(spool, program, kernel, memory))?, memory.len())
}

/// Returns a file for a new probe buffer.
pub fn mapping(kernel: &reply::Kernel, sizes: &[u64], program: &Id, name: &str) -> Result<Arc<Mapping>, Why> {
    let nowhere = || Why::new("unwritable", "there is no place for probes");
    let probe = kernel.probe.as_ref().ok_or_else(nowhere)?;
    let at = (program.clone(), name.to_owned(), sizes.to_vec());
    let mut table = table();
    let known = table.mappings.get(&at);
    if let Some(free) = known.and_then(|all| all.iter().find(|mapping| mapping.take())) {
        return Ok(free.clone());
    }
    let number = table.probes;
    table.probes += 1;
    drop(table);
    let process = process::current().ok_or_else(nowhere)?;
    let mapping = Arc::new(Mapping::create(&process, number, probe, sizes, program, name)?);
    self::table().mappings.entry(at).or_default().push(mapping.clone());
    Ok(mapping)
}

/// Tells kassay why launches of a kernel run as they are, once for each reason.
pub fn tell(program: &Id, kernel: &str, why: &Why) {
    tell_once("not-woven", program, kernel, why);
}

/// Tells kassay why launches of a kernel were not compared with its replacement's, once for each reason.
pub fn tell_unverified(program: &Id, kernel: &str, why: &Why) {
    tell_once("not-verified", program, kernel, why);
}

fn tell_once(kind: &'static str, program: &Id, kernel: &str, why: &Why) {
    let about = (kind, program.clone(), kernel.to_owned(), why.reason.clone());
    if table().reported.insert(about) {
        let about = About { program, kernel, reason: &why.reason };
        spool::note_about(kind, &why.message, Some(about));
    }
}

/// Reads what has not been read, if the process ends through `exit`.
extern "C" fn at_exit() {
    shielded(|| {
        let table = table();
        let woven = if table.is_current() { table.all() } else { Vec::new() };
        drop(table);
        // SAFETY: the contexts are there: the layer's objects keep them.
        let _ = woven.iter().all(|woven| unsafe { woven.read_probes() });
    });
}

/// Asks to be notified of the process's end, once there is something to be read then: what is registered later is
/// called earlier, and the driver must not have ended itself.
fn watch_exit() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Relaxed) {
        // SAFETY: the function stays loaded (the library is linked with `nodelete`).
        unsafe { libc::atexit(at_exit) };
    }
}
