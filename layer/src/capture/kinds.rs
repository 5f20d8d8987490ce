//! Kinds of launches: a kernel of a program on a device, whatever objects it is launched through, and their counts.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use serde::Serialize;

use super::Request;
use super::sampling::Sampling;
use super::signature::{self, Signature};
use crate::driver::Driver;
use crate::lifecycle;
use crate::shadow::program::{Device, Id};
use crate::shadow::{self, Handle, State, key};
use crate::spool::counts::Row;
use crate::spool::process::Process;
use crate::spool::{config, files};
use crate::wrappers::{devices, programs};

/// A kernel of a program on a device.
pub struct Kind {
    /// Its row of counters.
    pub row: &'static Row,
    /// The number of that row.
    pub number: usize,
    pub name: Arc<str>,
    pub program: Id,
    pub signature: Arc<Signature>,
    /// Launches asked for.
    pub launches: u64,
    /// Which of them are kept.
    pub sampling: Sampling,
}

/// All kinds of this process.
#[derive(Default)]
pub struct Kinds {
    generation: u64,
    numbers: HashMap<(Id, Arc<str>), usize>,
    all: Vec<Kind>,
}

impl Kinds {
    /// Whether these are the kinds of this process, not of the one that it was forked from.
    pub fn is_current(&self) -> bool {
        self.generation == lifecycle::generation()
    }
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
    arguments: Option<&'a [signature::Parameter]>,
}

/// Finds the kind that a launch is of, and announces it in the spool if it is the first of its kind in this process.
/// `None` if the kernel or the queue is unknown.
///
/// # Safety
/// The driver must be that of the request's objects.
pub unsafe fn find(driver: &Driver, process: &Process, request: &Request) -> Option<usize> {
    let mut state = shadow::state();
    if !state.kinds.is_current() {
        forget(&mut state);
    }
    let device = state.queues.get(&key(request.queue))?.device;
    let kernel = state.kernels.get(&key(request.kernel))?;
    if let Some((_, kind)) = kernel.kind.filter(|(on, _)| *on == device) {
        return Some(kind);
    }
    let (name, build) = (kernel.name.clone(), kernel.build.clone());
    let known = state.devices.get(&device).cloned();
    drop(state);
    let about: Arc<Device> = known.unwrap_or_else(|| devices::describe(driver, device as _));
    let program = build.id(&about);
    let at = (program, name);
    let mut state = shadow::state();
    if let Some(kind) = state.kinds.numbers.get(&at).copied() {
        return Some(remember(&mut state, request, device, kind));
    }
    drop(state);
    // Built asynchronously, the program was not written yet; it has this kernel, so it was built.
    programs::write(&build, &about, &at.0, programs::Status::Success, None);
    let signature = Arc::new(Signature::of(driver, request.kernel));
    let mut state = shadow::state();
    if let Some(kind) = state.kinds.numbers.get(&at).copied() {
        return Some(remember(&mut state, request, device, kind));
    }
    let (number, row) = process.counts.next_row();
    let line = Line { kernel: number, program: &at.0, name: &at.1, arguments: signature.parameters.as_deref() };
    let _ = files::append_line(&process.folder.join("kernels.jsonl"), &line);
    let kind = Kind {
        row,
        number,
        name: at.1.clone(),
        program: at.0.clone(),
        signature,
        launches: 0,
        sampling: Sampling::new(config().selects(&at.1)),
    };
    let kinds = &mut state.kinds;
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

/// Begins anew in a forked child.
fn forget(state: &mut State) {
    state.kinds = Kinds { generation: lifecycle::generation(), ..Kinds::default() };
    state.kernels.values_mut().for_each(|kernel| kernel.kind = None);
    // The threads whose snapshots these were are not here.
    state.watches.clear();
    state.queues.values_mut().for_each(|queue| queue.pins = 0);
}
