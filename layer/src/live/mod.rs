//! Woven replacements: with `KASSAY_SOCKET` set, each kernel of the program has a replacement with probes, which is
//! launched in its place.
//!
//! At the first launch of a kernel of a program, kassay is asked for woven code ([`ask`], [`reply`]), which is built in
//! the program's context ([`woven`]), in a mutation run from what an earlier process has kept ([`binaries`]). From then
//! on a launch gives the replacement ([`replacement`]) the arguments that have changed ([`arguments`]) and enqueues it,
//! once it was seen to do the same as the program's own kernel ([`verify`]). What it records is in a file of the spool
//! ([`probes`]). Whatever fails leaves the launch as it is.

mod arguments;
mod ask;
mod binaries;
mod copies;
mod objects;
mod once;
mod probes;
mod replacement;
mod reply;
mod table;
mod verified;
mod verify;
mod woven;

use std::sync::Arc;

use opencl_sys::{CL_KERNEL_CONTEXT, cl_int, cl_kernel};

use crate::boundary::shielded;
use crate::driver::{Driver, Outcome as _, call};
use crate::launch::{Request, Subject};
use crate::program::PartialGroups;
use crate::shadow::{self, Handle, key};
use crate::spool::config;
use crate::spool::config::Verify;
use crate::spool::counts::{Column, Row, count};
use probes::Probe;
use replacement::{Ready, Replacement};
use reply::{BUSY, Bits, Why};
use table::Slot;
pub use table::{Table, table};
use verified::Next;
use verify::Trial;
use woven::Woven;

/// Where a launch is counted, and what it launches, if that is known.
pub struct Counted {
    pub row: &'static Row,
    pub subject: Option<Arc<Subject>>,
    /// Whether what it covers is to be reported.
    pub is_recorded: bool,
}

/// What a replacement's probes say of a launch.
pub struct Recorded {
    woven: Arc<Woven>,
    probe: Arc<Probe>,
    bits: Bits,
    /// What was covered before it, as words of bits.
    pub before: Vec<u32>,
}

impl Recorded {
    unsafe fn new(replacement: &Replacement, ready: &Ready) -> Option<Recorded> {
        let bits = replacement.recipe()?.probe.as_ref()?.bits?;
        let recorded = Recorded { woven: replacement.woven.clone(), probe: ready.probe()?, bits, before: Vec::new() };
        Some(Recorded { before: recorded.covered()?, ..recorded })
    }

    /// Returns what has been covered by now, when no launch is under way; `None` if it cannot be read.
    ///
    /// # Safety
    /// The context must be there.
    pub unsafe fn covered(&self) -> Option<Vec<u32>> {
        let is_there = self.woven.reader.queue().is_none_or(|queue| self.probe.read(queue));
        is_there.then(|| self.probe.covered(&self.bits))
    }
}

/// Enqueues a launch of the replacement, or of the program's own kernel if there is none or if the driver refuses the
/// replacement. Returns the status and, of a replacement if it is asked for, what it records.
///
/// # Safety
/// `enqueue` must enqueue the kernel that it gets as the request says.
pub unsafe fn launch(
    driver: &'static Driver,
    request: &Request,
    counted: Option<Counted>,
    mut enqueue: impl FnMut(cl_kernel) -> cl_int,
) -> (cl_int, Option<Recorded>) {
    let Some(counted) = counted.filter(|_| config().socket.is_some()) else { return (enqueue(request.kernel), None) };
    let ready = shielded(|| prepare(driver, request, &counted)).flatten();
    let ready = ready
        .and_then(|(replacement, ready)| shielded(|| choose(driver, request, &counted, replacement, ready)).flatten());
    let Some(Chosen { replacement, ready, recorded, trial }) = ready else {
        let status = enqueue(request.kernel);
        if status.succeeded() {
            shielded(|| count(counted.row, Column::Plain));
        }
        return (status, None);
    };
    if let Some(trial) = trial {
        let status = enqueue(request.kernel);
        shielded(|| {
            replacement.give_back(ready);
            if status.succeeded() {
                trial.judge(driver, request, &replacement);
                let column = if replacement.woven.verified().is_refuted(replacement.name()) {
                    Column::Plain
                } else {
                    Column::Woven
                };
                count(counted.row, column);
            } else {
                replacement.woven.verified().parted();
            }
        });
        return (status, recorded);
    }
    let status = enqueue(ready.handle());
    if status.succeeded() {
        shielded(|| {
            count(counted.row, Column::Woven);
            let woven = replacement.woven.clone();
            replacement.give_back(ready);
            if woven.reader.is_due() && !woven.read_probes() {
                woven.reader.put_off();
            }
        });
        return (status, recorded);
    }
    let own = enqueue(request.kernel);
    shielded(|| {
        replacement.give_back(ready);
        if own.succeeded() {
            count(counted.row, Column::Plain);
            let why = Why::new("refused", format!("the driver refuses the woven kernel: error {status}"));
            table::tell(&replacement.woven.program, replacement.name(), &why);
        }
    });
    (own, None)
}

/// A launch that will run as a replacement, or be compared with one that has run on copies.
struct Chosen {
    replacement: Arc<Replacement>,
    ready: Ready,
    recorded: Option<Recorded>,
    trial: Option<Trial>,
}

/// Says what a launch whose replacement is ready does. `None`: it runs as it is.
unsafe fn choose(
    driver: &'static Driver,
    request: &Request,
    counted: &Counted,
    replacement: Arc<Replacement>,
    mut ready: Ready,
) -> Option<Chosen> {
    let woven = &replacement.woven;
    let how = if woven.reply.same { config().verify } else { Verify::None };
    let unrepeatable = replacement.recipe().and_then(|recipe| recipe.unrepeatable.as_ref());
    if let (Some(reason), true) = (unrepeatable, how != Verify::None) {
        table::tell_unverified(&woven.program, replacement.name(), &Why::new("unrepeatable", reason.clone()));
    }
    let has_variables = !woven.reply.variables.is_empty();
    let next = woven.verified().next(how, replacement.name(), has_variables, unrepeatable.is_none());
    if next == Next::Plain {
        replacement.give_back(ready);
        return None;
    }
    let recorded = if counted.is_recorded { Recorded::new(&replacement, &ready) } else { None };
    let (Next::Compare, Some(subject)) = (next, counted.subject.as_ref()) else {
        return Some(Chosen { replacement, ready, recorded, trial: None });
    };
    let mut has_run = false;
    let tried = verify::begin(driver, request, subject, &replacement, &mut ready).and_then(|mut trial| {
        has_run = true;
        trial.run_woven(driver, request, &ready).map(|()| trial)
    });
    let why = match tried {
        Ok(trial) => return Some(Chosen { replacement, ready, recorded, trial: Some(trial) }),
        Err(why) => why,
    };
    // What the driver refuses on copies it will refuse of the program, too.
    let is_refused = why.reason == verify::REFUSED;
    if !is_refused {
        table::tell_unverified(&woven.program, replacement.name(), &why);
    }
    // Some of its arguments may be copies by now.
    ready.stamps.fill(0);
    replacement.give_back(ready);
    if has_variables && has_run && !is_refused {
        // The woven kernel has changed its variables for a launch that is still to come; the program's own are right.
        woven.verified().give_up();
        table::tell(&woven.program, replacement.name(), &why);
        return None;
    }
    woven.verified().parted();
    if how == Verify::All {
        return None;
    }
    let (replacement, ready) = prepare(driver, request, counted)?;
    Some(Chosen { replacement, ready, recorded, trial: None })
}

/// Finds the replacement of a launch and gives it its arguments. `None`: the launch runs as it is.
unsafe fn prepare(driver: &'static Driver, request: &Request, counted: &Counted) -> Option<(Arc<Replacement>, Ready)> {
    let subject = counted.subject.as_ref()?;
    table().begin_anew_in_child();
    let mut state = shadow::state();
    let queue = state.queues.get(&key(request.queue))?;
    let (device, context) = (queue.device, queue.context);
    let kernel = state.kernels.get(&key(request.kernel))?;
    if request.has_partial_groups() && kernel.build.partial_groups() == PartialGroups::Unknown {
        drop(state);
        let message =
            "the local size does not divide the global one, and it is not known whether the program may do so";
        table::tell(&subject.program, &subject.name, &Why::new("partial-groups", message));
        return None;
    }
    let known = table().slot(key(request.kernel), device, context).map(|slot| slot.replacement.clone());
    let replacement = match known {
        Some(replacement) => replacement?,
        None => {
            drop(state);
            let replacement = remembered(driver, request, subject, (context, device))?;
            state = shadow::state();
            replacement
        }
    };
    let recipe = replacement.recipe()?;
    let (program, name) = (&replacement.woven.program, replacement.name());
    let tell = |why: Why| table::tell(program, name, &why);
    let taken = replacement.take();
    let mut ready = match taken {
        Some(ready) => ready,
        None => {
            drop(state);
            let made = replacement.make(recipe);
            let ready = made.map_err(tell).ok()?;
            state = shadow::state();
            ready
        }
    };
    let kernel = state.kernels.get(&key(request.kernel));
    let parameters = subject.signature.parameters.as_deref();
    let kit = (recipe, replacement.woven.reply.variables.as_slice());
    let changes = kernel.map(|kernel| arguments::changes(&state, kernel, kit, parameters, &ready));
    drop(state);
    let applied = match changes {
        Some(Ok(Some(changes))) => {
            let mapping = |sizes: &[u64]| table::mapping(recipe, sizes, program, name);
            replacement.apply(&mut ready, recipe, changes, mapping).map_err(tell).is_ok()
        }
        Some(Err(why)) => {
            tell(why);
            false
        }
        Some(Ok(None)) | None => false,
    };
    if applied {
        return Some((replacement, ready));
    }
    replacement.give_back(ready);
    None
}

/// Finds the replacement of a kernel object at its first launch on a device, and remembers it, or that there is none.
unsafe fn remembered(
    driver: &'static Driver,
    request: &Request,
    subject: &Subject,
    (context, device): (Handle, Handle),
) -> Option<Arc<Replacement>> {
    // A kernel of another context is none for this queue; the driver will say so.
    let (mut own, to_size) = (0_usize, size_of::<usize>());
    let to = (&raw mut own).cast();
    let asked = call!(driver, clGetKernelInfo(request.kernel, CL_KERNEL_CONTEXT, to_size, to, std::ptr::null_mut()));
    if asked != 0 || own != context {
        return None;
    }
    let (program, name) = (&subject.program, &subject.name);
    let build = shadow::state().kernels.get(&key(request.kernel))?.build.clone();
    let replacement =
        match table::woven(driver, context, device, program).and_then(|woven| Replacement::new(&woven, name, &build)) {
            Ok(replacement) => Some(Arc::new(replacement)),
            Err(why) => {
                table::tell(program, name, &why);
                if why.reason == BUSY {
                    return None;
                }
                None
            }
        };
    let slot = Slot::new(device, context, replacement.clone());
    // While the kernel is known, its replacements stay.
    let state = shadow::state();
    state.kernels.get(&key(request.kernel))?;
    let mut table = table();
    match table.slot(key(request.kernel), device, context) {
        // Another thread was faster. This one's replacement goes when the locks are gone.
        Some(slot) => slot.replacement.clone(),
        None => {
            table.add_slot(key(request.kernel), slot);
            replacement
        }
    }
}

/// Forgets the replacements of a kernel object whose handle another one has by now, so that its release was not seen.
/// They are not released: the state is locked.
pub fn kernel_is_new(kernel: Handle) {
    std::mem::forget(table().remove_slots(kernel));
}

/// Releases the replacements of a kernel object that has gone, by calls to the driver.
pub fn kernel_is_gone(kernel: Handle) {
    let slots = table().remove_slots(kernel);
    slots.into_iter().for_each(Slot::release);
}

/// Releases what the layer has in a context in which nothing can be launched any more, after reading the probes.
pub fn context_is_done(context: Handle) {
    if config().socket.is_none() {
        return;
    }
    let mut table = table();
    if !table.is_current() {
        return;
    }
    let (woven, slots) = table.remove(context);
    drop(table);
    // SAFETY: the context is still there: this is before the driver's own release.
    let _ = woven.iter().all(|woven| unsafe { woven.read_probes() });
    slots.into_iter().for_each(Slot::release);
}
