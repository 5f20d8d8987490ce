//! What there is of woven programs in this process: answers by program, woven code by context, files of probe buffers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::ask::{self, Compare, Left, Weave};
use super::once::Once;
use super::probes::{Mapping, Reader};
use super::reply::{self, Why};
use super::woven::Woven;
use crate::driver::Driver;
use crate::lifecycle;
use crate::shadow::program::Id;
use crate::shadow::{self, Handle};
use crate::spool::{self, About, config, process};

type Answer = Arc<Once<Result<Arc<reply::Woven>, Why>>>;
/// A program, a kernel's name and the sizes of its arguments.
type Probed = (Id, String, Vec<u64>);

/// All of it, of one process.
#[derive(Default)]
pub struct Table {
    generation: u64,
    answers: HashMap<Id, Answer>,
    /// By context, device and program.
    woven: HashMap<(Handle, Handle, Id), Arc<Woven>>,
    readers: HashMap<(Handle, Handle), Arc<Reader>>,
    mappings: HashMap<Probed, Vec<Arc<Mapping>>>,
    probes: usize,
    told: HashSet<(&'static str, Id, String, String)>,
    /// Why kassay is not asked any more.
    silent: Option<Why>,
}

impl Table {
    /// Whether this is the table of this process, not of the one that it was forked from.
    pub fn is_current(&self) -> bool {
        self.generation == lifecycle::generation()
    }

    /// Begins anew in a forked child. The parent's objects are not even released here.
    pub fn begin_anew(&mut self) {
        let parent = std::mem::replace(self, Table { generation: lifecycle::generation(), ..Table::default() });
        std::mem::forget(parent);
    }

    /// Removes what there is in a context. It must be dropped without the state's lock.
    pub fn remove(&mut self, context: Handle) -> Vec<Arc<Woven>> {
        self.readers.retain(|(of, _), _| *of != context);
        self.woven.extract_if(|(of, _, _), _| *of == context).map(|(_, woven)| woven).collect()
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
        let mut state = shadow::state();
        match state.contexts.get(&context) {
            Some(known) if known.generation == lifecycle::generation() => {}
            // What the driver lets a child do with its parent's objects is nothing to build on.
            Some(_) => return Err(Why::new("forked", "the context was made before the process was forked")),
            None => return Err(Why::new("unknown-context", "the context is released, or was not seen being made")),
        }
        state.twins.answers.entry(program.clone()).or_default().clone()
    };
    let reply = answer
        .get(limit(), || ask(program).map(Arc::new))
        .ok_or_else(|| Why::new(reply::BUSY, "another thread waits for kassay's answer for a long time"))??;
    let mut state = shadow::state();
    let reader = state.twins.readers.entry((context, device)).or_default().clone();
    let make = || Arc::new(Woven::new(driver, (context, device), program.clone(), reply, reader, limit()));
    Ok(state.twins.woven.entry((context, device, program.clone())).or_insert_with(make).clone())
}

fn ask(program: &Id) -> Result<reply::Woven, Why> {
    let process = process::current().ok_or_else(nobody)?;
    let line = send(&Weave::new(program, &process.name, config().mutant.as_deref()))?;
    reply::parse(&line)
}

fn nobody() -> Why {
    Why::new("no-answer", "there is nobody to ask")
}

fn send(request: &impl serde::Serialize) -> Result<Vec<u8>, Why> {
    if let Some(why) = shadow::state().twins.silent.clone() {
        return Err(why);
    }
    let socket = config().socket.as_deref().ok_or_else(nobody)?;
    ask::ask(socket, request, limit()).inspect_err(|why| {
        // One wait is enough.
        if why.reason == "timeout" {
            shadow::state().twins.silent = Some(why.clone());
        }
    })
}

/// Asks kassay of two kernels' results whether they are the same but for the rounding of floats. Returns the positions of those that are
/// not, each with a message.
pub fn compare(program: &Id, kernel: &str, memory: &[Left]) -> Result<Vec<(usize, String)>, Why> {
    let spool = spool::folder().ok_or_else(nobody)?;
    reply::parse_compared(&send(&Compare::new(spool, program, kernel, memory))?, memory.len())
}

/// Returns a file for a new probe buffer.
pub fn mapping(kernel: &reply::Kernel, sizes: &[u64], program: &Id, name: &str) -> Result<Arc<Mapping>, Why> {
    let nowhere = || Why::new("unwritable", "there is no place for probes");
    let probe = kernel.probe.as_ref().ok_or_else(nowhere)?;
    let at = (program.clone(), name.to_owned(), sizes.to_vec());
    let mut state = shadow::state();
    let known = state.twins.mappings.get(&at);
    if let Some(free) = known.and_then(|all| all.iter().find(|mapping| mapping.take())) {
        return Ok(free.clone());
    }
    let number = state.twins.probes;
    state.twins.probes += 1;
    drop(state);
    let process = process::current().ok_or_else(nowhere)?;
    let mapping = Arc::new(Mapping::create(&process, number, probe, sizes, program, name)?);
    shadow::state().twins.mappings.entry(at).or_default().push(mapping.clone());
    Ok(mapping)
}

/// Tells kassay why launches of a kernel run as they are, once for each reason.
pub fn tell(program: &Id, kernel: &str, why: &Why) {
    tell_once("not-woven", program, kernel, why);
}

/// Tells kassay why launches of a kernel were not compared with its twin's, once for each reason.
pub fn tell_unverified(program: &Id, kernel: &str, why: &Why) {
    tell_once("not-verified", program, kernel, why);
}

fn tell_once(kind: &'static str, program: &Id, kernel: &str, why: &Why) {
    let about = (kind, program.clone(), kernel.to_owned(), why.reason.clone());
    if shadow::state().twins.told.insert(about) {
        let about = About { program, kernel, reason: &why.reason };
        spool::note_about(kind, &why.message, Some(about));
    }
}
