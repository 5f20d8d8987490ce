//! Kinds of launches: a kernel of a program on a device, whatever objects it is launched through, and their counts.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use serde::Serialize;

use super::sampling::{Chosen, Sampling};
use crate::driver::Driver;
use crate::driver::devices::Device;
use crate::driver::signature::{Parameter, Signature};
use crate::launch::{Request, Subject};
use crate::lock::lock;
use crate::program::record::{self, Status};
use crate::shadow::{self, Handle, State, device, key};
use crate::spool::blobs::Id;
use crate::spool::counts::{Column, Row};
use crate::spool::process::Process;
use crate::spool::{config, files};

/// A kernel of a program on a device.
pub struct Kind {
    /// Its row of counters.
    pub row: &'static Row,
    /// The number of that row.
    pub number: usize,
    pub subject: Arc<Subject>,
    /// Launches asked for.
    pub launches: u64,
    /// Which of them are kept.
    pub sampling: Sampling,
}

impl Kind {
    /// Counts a launch, and decides whether it is to be kept. The error is the reason if it is not.
    pub fn decide(&mut self, state: &State, request: &Request) -> Result<Chosen, Column> {
        self.launches += 1;
        self.sampling.decide(state, self.launches, &self.subject, request)
    }
}

/// All kinds of this process.
#[derive(Default)]
pub struct Kinds {
    numbers: HashMap<(Id, Arc<str>), usize>,
    all: Vec<Kind>,
}

static KINDS: LazyLock<Mutex<Kinds>> = LazyLock::new(Mutex::default);

/// Locks the kinds. Must not be held while a driver is called.
pub fn kinds() -> MutexGuard<'static, Kinds> {
    lock(&KINDS)
}

impl Index<usize> for Kinds {
    type Output = Kind;

    fn index(&self, number: usize) -> &Kind {
        &self.all[number]
    }
}

impl IndexMut<usize> for Kinds {
    fn index_mut(&mut self, number: usize) -> &mut Kind {
        &mut self.all[number]
    }
}

/// A line of `kernels.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    kernel: usize,
    program: &'a Id,
    name: &'a str,
    arguments: Option<&'a [Parameter]>,
}

/// Finds the kind that a launch is of, and announces it in the spool if it is the first of its kind in this process.
/// `None` if the kernel or the queue is unknown.
///
/// # Safety
/// The driver must be that of the request's objects.
pub unsafe fn find(driver: &Driver, process: &Process, request: &Request) -> Option<usize> {
    let mut state = shadow::state();
    if !state.is_current() {
        state.begin_anew();
        *kinds() = Kinds::default();
    }
    let device = state.queues.get(&key(request.queue))?.device;
    let kernel = state.kernels.get(&key(request.kernel))?;
    if let Some((_, kind)) = kernel.kind.filter(|(on, _)| *on == device) {
        return Some(kind);
    }
    let (name, build) = (kernel.name.clone(), kernel.build.clone());
    let known = state.devices.get(&device).cloned();
    drop(state);
    let about: Arc<Device> = known.unwrap_or_else(|| device::describe(driver, device as _));
    let program = build.id(&about);
    let at = (program, name);
    let mut state = shadow::state();
    let known = kinds().numbers.get(&at).copied();
    if let Some(kind) = known {
        return Some(remember(&mut state, request, device, kind));
    }
    drop(state);
    // Built asynchronously, the program was not written yet; it has this kernel, so it was built.
    record::write(&build, &about, &at.0, Status::Success, None, || None);
    let signature = Signature::of(driver, request.kernel);
    let mut state = shadow::state();
    let mut kinds = kinds();
    if let Some(kind) = kinds.numbers.get(&at).copied() {
        return Some(remember(&mut state, request, device, kind));
    }
    let (number, row) = process.counts.next_row();
    let line = Line { kernel: number, program: &at.0, name: &at.1, arguments: signature.parameters.as_deref() };
    let _ = files::append_line(&process.folder.join("kernels.jsonl"), &line);
    let kind = Kind {
        row,
        number,
        subject: Arc::new(Subject { program: at.0.clone(), name: at.1.clone(), signature }),
        launches: 0,
        sampling: Sampling::new(config().selects(&at.1)),
    };
    kinds.all.push(kind);
    let kind = kinds.all.len() - 1;
    kinds.numbers.insert(at, kind);
    Some(remember(&mut state, request, device, kind))
}

fn remember(state: &mut State, request: &Request, device: Handle, kind: usize) -> usize {
    if let Some(kernel) = state.kernels.get_mut(&key(request.kernel)) {
        kernel.kind = Some((device, kind));
    }
    kind
}
