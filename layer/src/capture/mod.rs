//! Which launches are kept, and their contents before and after.
//!
//! A launch that is kept is taken out of the stream of commands for a moment: everything that was asked for before it
//! is finished, its memory is read, it runs, and its memory is read again. Commands that are not ordered with it may
//! run before it or after it by OpenCL's rules, so this is one of the orders that the program allows. Only where it
//! might wait for ever (user events) or where another thread writes the same memory meanwhile, the launch is left out.

mod kinds;
mod plan;
mod record;
mod sampling;

use std::path::PathBuf;
use std::sync::{Arc, Once};

use opencl_sys::{cl_command_queue, cl_int, cl_kernel};

use crate::boundary::shielded;
use crate::driver::{Driver, Outcome as _};
use crate::launch::contents::{self, Taken};
use crate::launch::reached::{self, Region};
use crate::launch::{Request, Subject};
use crate::live;
use crate::shadow::{self, Handle, State, key};
use crate::spool::blobs::{self, Refusal};
use crate::spool::counts::{Column, Row, count, uncount};
use crate::spool::process::{self, Process};
use crate::spool::{self, files};
pub use kinds::{Kinds, kinds};
use plan::Plan;
use sampling::{Chosen, Sampling};

/// A launch that will be counted, and perhaps kept.
struct Prepared {
    process: Arc<Process>,
    row: &'static Row,
    kind: Option<(usize, Arc<Subject>)>,
    /// What there is to keep, or why it is not kept.
    kept: Result<Box<Snapshot>, Column>,
}

struct Snapshot {
    plan: Plan,
    /// Of a launch that is looked at, only what it may write.
    before: Vec<Taken>,
    /// The launch as it was written already, if only its inputs are asked for.
    written: Option<PathBuf>,
}

/// Enqueues a launch by `enqueue`, as the program's kernel or its replacement, and returns its status.
///
/// # Safety
/// The wait list must have as many events as the request says.
pub unsafe fn launch(driver: &'static Driver, request: &Request, enqueue: impl FnMut(cl_kernel) -> cl_int) -> cl_int {
    let prepared = shielded(|| prepare(driver, request)).flatten();
    let counted = prepared.as_ref().map(|prepared| live::Counted {
        row: prepared.row,
        subject: prepared.kind.as_ref().map(|(_, subject)| subject.clone()),
        is_recorded: prepared.kept.is_ok() && spool::config().sample_by_coverage,
    });
    let (status, recorded) = live::launch(driver, request, counted, enqueue);
    if let Some(prepared) = prepared {
        shielded(|| finish(driver, request, prepared, status, recorded));
    }
    status
}

/// Counts a launch without a kernel or a queue.
pub fn count_unknown(status: cl_int) {
    if let Some(process) = process::current() {
        if status.succeeded() {
            count(process.unknown, Column::Launches);
            count(process.unknown, Column::UnknownKernel);
        } else {
            count(process.unknown, Column::Refused);
        }
    }
}

unsafe fn prepare(driver: &'static Driver, request: &Request) -> Option<Prepared> {
    let process = process::current()?;
    let sequence = process.sequence.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let found = kinds::find(driver, &process, request);
    let Some(found) = found else {
        let row = process.unknown;
        return Some(Prepared { process, row, kind: None, kept: Err(Column::UnknownKernel) });
    };
    let mut state = shadow::state();
    let mut kinds = kinds();
    // The kinds are counted anew after a fork, of which there was none since: this thread would have made it.
    let kind = &mut kinds[found];
    let (row, subject) = (kind.row, kind.subject.clone());
    let decision = if process.is_writable { kind.decide(&state, request) } else { Err(Column::Unwritable) };
    let planned = decision.and_then(|chosen| {
        plan::plan(&mut state, kind, request, sequence, chosen)
            .map_err(|reason| failed(&mut kind.sampling, chosen, reason, u64::MAX))
    });
    drop(kinds);
    disturb(&state, request, planned.as_ref().ok());
    state.mark_arguments(key(request.kernel));
    drop(state);
    if matches!(planned, Err(Column::MaxBytes)) {
        tell_budget();
    }
    let kept = planned.and_then(|plan| {
        let (chosen, bytes) = (plan.chosen, plan.bytes);
        let result = snapshot(driver, request, &process, plan);
        result.map(Box::new).map_err(|reason| failed(&mut self::kinds()[found].sampling, chosen, reason, bytes))
    });
    Some(Prepared { process, row, kind: Some((found, subject)), kept })
}

/// Notes that a launch of `bytes` was chosen and cannot be kept. Returns the reason under which it is counted.
fn failed(sampling: &mut Sampling, chosen: Chosen, reason: Column, bytes: u64) -> Column {
    sampling.failed(chosen, reason, bytes);
    match chosen {
        // Whether it would have been kept is not known.
        Chosen::Perhaps(otherwise) => otherwise,
        _ => reason,
    }
}

/// Tells the snapshots of other threads that this launch may write their memory.
fn disturb(state: &State, request: &Request, own: Option<&Plan>) {
    if state.watches.is_empty() {
        return;
    }
    let Some(kernel) = state.kernels.get(&key(request.kernel)) else { return };
    let own = own.and_then(|plan| plan.pinned.as_ref()).map(|pinned| &pinned.watch);
    for root in reached::roots(state, kernel) {
        state.disturb(root, own);
    }
}

unsafe fn snapshot(driver: &Driver, request: &Request, process: &Process, plan: Plan) -> Result<Snapshot, Column> {
    contents::wait(driver, request, plan.pinned.as_ref())?;
    let is_certain = !matches!(plan.chosen, Chosen::Perhaps(_));
    let before = contents::read(driver, place(request, &plan), &plan.reached.regions, |region| {
        is_certain || region.may_be_written
    })?;
    let mut snapshot = Snapshot { plan, before, written: None };
    if is_certain && !spool::config().after {
        check_undisturbed(&snapshot.plan)?;
        let before = std::mem::take(&mut snapshot.before);
        snapshot.written = Some(write(driver, request, process, &snapshot.plan, before, Vec::new())?);
        snapshot.plan.pinned = None;
    }
    Ok(snapshot)
}

unsafe fn finish(
    driver: &Driver,
    request: &Request,
    prepared: Prepared,
    status: cl_int,
    recorded: Option<live::Recorded>,
) {
    let Prepared { process, row, kind, kept } = prepared;
    if !status.succeeded() {
        count(row, Column::Refused);
        if let Ok(Snapshot { written: Some(path), .. }) = kept.as_deref() {
            let _ = std::fs::remove_file(path);
        }
        return;
    }
    count(row, Column::Launches);
    let (Ok(snapshot), Some((kind, _))) = (kept.as_ref(), kind) else {
        return count(row, kept.err().unwrap_or(Column::UnknownKernel));
    };
    let (chosen, bytes) = (snapshot.plan.chosen, snapshot.plan.bytes);
    let finished = kept.and_then(|mut snapshot| {
        if let Some(recorded) = recorded {
            contents::finish(driver, request.queue)?;
            if let Some(after) = recorded.covered() {
                let is_new = kinds()[kind].sampling.covers(&recorded.before, &after);
                snapshot.plan.new_coverage = Some(is_new);
            }
        }
        match chosen {
            Chosen::Perhaps(otherwise) => match snapshot.plan.new_coverage {
                Some(true) => replace(driver, request, &process, (row, kind), *snapshot),
                // It is no failure that there is nothing new.
                Some(false) => Ok(otherwise),
                None => Err(otherwise),
            },
            _ => complete(driver, request, &process, kind, *snapshot),
        }
    });
    match finished {
        Ok(column) => count(row, column),
        Err(reason) => count(row, failed(&mut kinds()[kind].sampling, chosen, reason, bytes)),
    }
}

/// Reads what the launch has written, and writes the launch. Returns the column in which it is counted.
unsafe fn complete(
    driver: &Driver,
    request: &Request,
    process: &Process,
    kind: usize,
    snapshot: Snapshot,
) -> Result<Column, Column> {
    let Snapshot { plan, before, written } = snapshot;
    let path = match written {
        Some(path) => path,
        None => {
            contents::finish(driver, request.queue)?;
            let after =
                contents::read(driver, place(request, &plan), &plan.reached.regions, |region| region.may_be_written)?;
            check_undisturbed(&plan)?;
            write(driver, request, process, &plan, before, after)?
        }
    };
    if (plan.chosen, plan.new_coverage) == (Chosen::Number, Some(false)) {
        kinds()[kind].sampling.may_be_replaced(path);
    }
    Ok(Column::Kept)
}

/// Writes a launch that has covered something new, in the place of another one if there are enough. What it cannot have
/// written is read only now.
unsafe fn replace(
    driver: &Driver,
    request: &Request,
    process: &Process,
    (row, kind): (&Row, usize),
    snapshot: Snapshot,
) -> Result<Column, Column> {
    let Snapshot { plan, mut before, .. } = snapshot;
    let room = match kinds()[kind].sampling.make_room() {
        Ok(room) => room,
        Err(reason) => return Ok(reason),
    };
    let write = || {
        before.extend(contents::read(driver, place(request, &plan), &plan.reached.regions, |region| {
            !region.may_be_written
        })?);
        let is_wanted = |region: &Region| region.may_be_written && spool::config().after;
        let after = contents::read(driver, place(request, &plan), &plan.reached.regions, is_wanted)?;
        check_undisturbed(&plan)?;
        write(driver, request, process, &plan, before, after)
    };
    match (write(), room) {
        (Ok(_), None) => Ok(Column::Kept),
        (Ok(_), Some(old)) => {
            // The new one is there, whatever happens now.
            if std::fs::remove_file(old).is_ok() {
                uncount(row, Column::Kept);
                count(row, Column::MaxLaunches);
            }
            Ok(Column::Kept)
        }
        (Err(reason), room) => {
            kinds()[kind].sampling.give_room_back(room);
            Ok(reason)
        }
    }
}

/// The queue of a launch, and the context.
fn place(request: &Request, plan: &Plan) -> (cl_command_queue, Handle) {
    (request.queue, plan.context)
}

fn check_undisturbed(plan: &Plan) -> Result<(), Column> {
    if plan.pinned.as_ref().is_some_and(shadow::Pinned::is_disturbed) { Err(Column::Disturbed) } else { Ok(()) }
}

/// Puts contents and the launch's file in place; the file last, so that it never names contents that are not there.
unsafe fn write(
    driver: &Driver,
    request: &Request,
    process: &Process,
    plan: &Plan,
    before: Vec<Taken>,
    after: Vec<Taken>,
) -> Result<PathBuf, Column> {
    let spool = spool::folder().ok_or(Column::Unwritable)?;
    let mut new: Vec<_> =
        before.iter().chain(&after).filter(|taken| !taken.draft.is_known(spool)).map(|t| t.draft.piece()).collect();
    new.sort_by(|a, b| a.blob.cmp(&b.blob));
    new.dedup_by(|a, b| a.blob == b.blob);
    let bytes = new.iter().map(|piece| piece.bytes).sum();
    blobs::take(bytes).map_err(|refusal| refused(refusal, None))?;
    let keep = || -> std::io::Result<PathBuf> {
        let mut pieces = vec![(None, None); plan.reached.regions.len()];
        for taken in before {
            pieces[taken.region].0 = Some(taken.draft.keep(spool)?.blob);
        }
        for taken in after {
            pieces[taken.region].1 = Some(taken.draft.keep(spool)?.blob);
        }
        let record = record::launch(driver, request, plan, &pieces);
        let path = process.folder.join("launches").join(format!("{:010}.json", plan.sequence));
        files::write_json(spool, &path, &record)?;
        Ok(path)
    };
    keep().map_err(|error| {
        blobs::give_back(bytes);
        refused(Refusal::Unwritable, Some(&error))
    })
}

/// Tells kassay once that the budget is used up.
fn tell_budget() {
    static ONCE: Once = Once::new();
    spool::note_once(&ONCE, "budget-reached", || {
        format!("max_bytes ({}) is reached: further launches are counted, not kept", spool::config().max_bytes)
    });
}

/// Says why contents were not written, and tells kassay once.
fn refused(refusal: Refusal, error: Option<&std::io::Error>) -> Column {
    static ONCE: Once = Once::new();
    match refusal {
        Refusal::Budget => {
            tell_budget();
            Column::MaxBytes
        }
        Refusal::Unwritable => {
            spool::note_once(&ONCE, "unwritable", || {
                format!("the spool cannot be written: {}", error.map_or_else(String::new, ToString::to_string))
            });
            Column::Unwritable
        }
    }
}
