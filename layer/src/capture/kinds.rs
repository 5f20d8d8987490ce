//! Kinds of launches: a kernel of a program on a device, whatever objects it is launched through; their counts, and the
//! choice of launches that are kept.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use serde::Serialize;

use super::Request;
use super::signature::{self, Signature};
use crate::driver::Driver;
use crate::lifecycle;
use crate::shadow::kernel::{Argument, Kernel};
use crate::shadow::program::{Device, Id};
use crate::shadow::{self, Handle, State, key};
use crate::spool::counts::{Column, Row};
use crate::spool::process::Process;
use crate::spool::{config, files};
use crate::wrappers::{devices, programs};

/// So many attempts to keep a launch of a kernel may fail before they are given up.
const MOST_FAILURES: u32 = 16;

/// A kernel of a program on a device.
pub struct Kind {
    /// Its row of counters.
    pub row: &'static Row,
    /// The number of that row.
    pub number: usize,
    pub name: Arc<str>,
    pub program: Id,
    pub signature: Arc<Signature>,
    selected: bool,
    /// Launches asked for.
    pub launches: u64,
    kept: u64,
    shapes: HashSet<u64>,
    failures: u32,
    failure: Column,
    /// The smallest launch that the budget had no room for, in bytes.
    pub too_big: Option<u64>,
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
        selected: config().selects(&at.1),
        launches: 0,
        kept: 0,
        shapes: HashSet::new(),
        failures: 0,
        failure: Column::NotSampled,
        too_big: None,
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

/// Decides whether a launch is to be kept: the first of each shape, and the 1st, 2nd, 4th, 8th … of the kind, within
/// limits.
pub fn decide(state: &mut State, kind: usize, request: &Request) -> Result<(), Column> {
    let config = config();
    let found = &mut state.kinds[kind];
    found.launches += 1;
    if !found.selected {
        return Err(Column::NotSelected);
    }
    if found.failures >= MOST_FAILURES {
        return Err(found.failure);
    }
    if config.all {
        return Ok(());
    }
    if found.kept >= config.max_launches {
        return Err(Column::MaxLaunches);
    }
    let is_sampled = found.launches.is_power_of_two();
    let has_room = (found.shapes.len() as u64) < config.max_shapes;
    let kernel = state.kernels.get(&key(request.kernel)).filter(|_| has_room);
    let shape = kernel.map(|kernel| shape(state, kernel, request));
    let is_new = shape.is_some_and(|shape| state.kinds[kind].shapes.insert(shape));
    if !is_new && !is_sampled {
        return Err(Column::NotSampled);
    }
    state.kinds[kind].kept += 1;
    Ok(())
}

/// Notes that a launch of `bytes` was chosen and could not be kept. What was not chosen is no failure.
pub fn failed(state: &mut State, kind: usize, reason: Column, bytes: u64) {
    if matches!(reason, Column::NotSampled | Column::MaxLaunches | Column::NotSelected) {
        return;
    }
    let kind = &mut state.kinds[kind];
    kind.kept = kind.kept.saturating_sub(1);
    kind.failures += 1;
    kind.failure = reason;
    if reason == Column::MaxBytes {
        kind.too_big = Some(kind.too_big.map_or(bytes, |least| least.min(bytes)));
    }
}

/// A hash of what makes a launch new in kind: sizes, which arguments are null, sizes of memory.
fn shape(state: &State, kernel: &Kernel, request: &Request) -> u64 {
    let mut hash = DefaultHasher::new();
    (request.dimensions, request.offset, request.global, request.local).hash(&mut hash);
    for argument in &kernel.arguments {
        match argument {
            Argument::Unset => 0.hash(&mut hash),
            Argument::Sized(size) => (1, size).hash(&mut hash),
            Argument::Pointer(pointer) => {
                (2, state.svm_at(*pointer).map(|(base, found)| (found.size, pointer - base))).hash(&mut hash);
            }
            Argument::Value { bytes, memory: Some(_) } => {
                let memory = bytes.as_handle().and_then(|handle| state.memory.get(&handle));
                (3, memory.map(|memory| memory.size)).hash(&mut hash);
            }
            Argument::Value { bytes, memory: None } => {
                (4, bytes.as_slice().len(), bytes.as_handle() == Some(0)).hash(&mut hash);
            }
        }
    }
    hash.finish()
}
