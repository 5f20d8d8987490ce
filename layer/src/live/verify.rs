//! A woven kernel takes the place of the program's own only if it was seen to do the same.
//!
//! In a launch that is compared, the woven kernel runs on copies of the memory, and the program's own kernel runs as
//! the program asked; what both have left is compared. So the program gets its own results, whatever the woven kernel
//! does.

use std::sync::Arc;

use opencl_sys::{CL_KERNEL_PROGRAM, cl_command_queue, cl_kernel, cl_program};

use super::ask::{Format, Left, Reaches};
use super::copies::Copies;
use super::objects::{self, Kind, Owned};
use super::replacement::{Ready, Replacement};
use super::reply::{Argument, Why};
use super::verified::Verdict;
use super::{arguments, table};
use crate::driver::{Driver, call};
use crate::launch::contents::{self, Taken};
use crate::launch::reached::{Reached, Region, Source, Value};
use crate::launch::{Request, Subject};
use crate::shadow::kernel::{self, Settings};
use crate::shadow::{self, Handle, Pinned, key};
use crate::spool;
use crate::spool::counts::Column;

/// How often the program's own kernel is repeated to see whether it leaves the same each time.
const REPETITIONS: u32 = 3;
/// The reason of kernels whose replacements do not do the same.
pub const DIFFERS: &str = "differs-when-woven";

/// The reason of launches that the driver refuses on copies.
pub const REFUSED: &str = "refused";

/// A launch whose woven kernel runs on copies.
pub struct Trial {
    context: Handle,
    queue: Arc<Owned>,
    reached: Reached,
    pinned: Pinned,
    /// What the program has set.
    given: Vec<kernel::Argument>,
    settings: Arc<Settings>,
    members: Vec<Member>,
    /// The memory before the launch.
    before: Copies,
    copies: Copies,
    /// What the woven kernel has left.
    woven: Vec<Taken>,
}

fn unread(column: Column) -> Why {
    let word = column.word();
    Why::new(&word, format!("its memory cannot be copied ({word})"))
}

/// A pointer in a struct: the position of the program's argument, the offset in it, and what the pointer reaches.
type Member = (usize, usize, Value);

/// Returns what an argument of the woven kernel reaches, if the program has given it.
fn value_of<'a>(argument: &Argument, reached: &'a Reached, members: &'a [Member]) -> Option<&'a Value> {
    match *argument {
        Argument::Parameter { index } => reached.arguments.get(index),
        Argument::Member { index, offset } => {
            members.iter().find(|(of, at, _)| (*of, *at) == (index, offset)).map(|(.., value)| value)
        }
        Argument::Variable { .. } | Argument::Probe => None,
    }
}

fn is_written(region: &Region) -> bool {
    region.may_be_written
}

/// Prepares the woven kernel of a launch to run on copies, once everything that was asked for before is done.
///
/// # Safety
/// The request must be one that the driver has objects of, with a wait list as long as it says.
pub unsafe fn begin(
    driver: &'static Driver,
    request: &Request,
    subject: &Subject,
    replacement: &Replacement,
    ready: &mut Ready,
) -> Result<Trial, Why> {
    let recipe = replacement.recipe().ok_or_else(|| Why::new("bad-answer", "there is no such kernel"))?;
    let woven = &replacement.woven;
    let mut state = shadow::state();
    let mut reached = Reached::by(&state, subject, request).map_err(unread)?;
    let gone = || unread(Column::UnknownKernel);
    let (given, settings) = {
        let kernel = state.kernels.get(&key(request.kernel)).ok_or_else(gone)?;
        (kernel.arguments.clone(), kernel.settings.clone())
    };
    let mut members = Vec::new();
    for argument in &recipe.arguments {
        let Argument::Member { index, offset } = *argument else { continue };
        let pointer = arguments::member(given.get(index).ok_or_else(gone)?, offset)?;
        if pointer != 0 {
            let (region, at) = reached.add(&state, pointer).map_err(unread)?;
            members.push((index, offset, Value::Svm { region, offset: at }));
        }
    }
    let pinned = reached.pin(&mut state, request).map_err(unread)?;
    drop(state);
    contents::wait(driver, request, Some(&pinned)).map_err(unread)?;
    let context = woven.context;
    let queue = Arc::new(objects::queue(driver, context, woven.device())?);
    let before = Copies::new(woven, &queue, &reached.regions)?;
    before.fill(&reached.regions)?;
    let mut copies = Copies::new(woven, &queue, &reached.regions)?;
    copies.fill(&before.regions)?;
    for (position, argument) in (0..).zip(&recipe.arguments) {
        if let Some(value) = value_of(argument, &reached, &members)
            && copies.set(ready.handle(), position, value)?
            && let Some(stamp) = ready.stamps.get_mut(position as usize)
        {
            // The next launch sets the program's own again.
            *stamp = 0;
        }
    }
    let woven = Vec::new();
    Ok(Trial { context, queue, reached, pinned, given, settings, members, before, copies, woven })
}

/// Runs a kernel as a request says, on a queue of ours.
unsafe fn run(driver: &Driver, queue: &Owned, kernel: cl_kernel, request: &Request) -> Result<(), Why> {
    let of = |sizes: &Option<[usize; 3]>| sizes.as_ref().map_or(std::ptr::null(), |sizes| sizes.as_ptr());
    let (offset, global, local) = (of(&request.offset), request.global.as_ptr(), of(&request.local));
    let (to, dimensions, none): (cl_command_queue, _, _) = (queue.handle(), request.dimensions, std::ptr::null());
    let status = call!(
        driver,
        clEnqueueNDRangeKernel(to, kernel, dimensions, offset, global, local, 0, none, std::ptr::null_mut())
    );
    let status = if status == 0 { call!(driver, clFinish(to)) } else { status };
    if status == 0 { Ok(()) } else { Err(Why::new(REFUSED, format!("a launch on copies: error {status}"))) }
}

impl Trial {
    /// Runs the woven kernel on the copies.
    ///
    /// # Safety
    /// As for [`begin`].
    pub unsafe fn run_woven(&mut self, driver: &Driver, request: &Request, ready: &Ready) -> Result<(), Why> {
        run(driver, &self.queue, ready.handle(), request)?;
        let at = (self.queue.handle(), self.context);
        self.woven = contents::read(driver, at, &self.copies.regions, is_written).map_err(unread)?;
        Ok(())
    }

    /// Compares, once the program's own launch was asked for, and remembers the verdict.
    ///
    /// # Safety
    /// As for [`begin`].
    pub unsafe fn judge(self, driver: &'static Driver, request: &Request, replacement: &Replacement) {
        let verdict = self.verdict(driver, request, replacement).unwrap_or_else(Verdict::Open);
        let woven = &replacement.woven;
        woven.verified().found(replacement.name(), !woven.reply.variables.is_empty(), &verdict);
        match verdict {
            Verdict::Same => {}
            Verdict::Open(why) => table::tell_unverified(&woven.program, replacement.name(), &why),
            Verdict::Differs(why) => table::tell(&woven.program, replacement.name(), &why),
        }
    }

    unsafe fn verdict(
        mut self,
        driver: &'static Driver,
        request: &Request,
        replacement: &Replacement,
    ) -> Result<Verdict, Why> {
        contents::finish(driver, request.queue).map_err(unread)?;
        let at = (self.queue.handle(), self.context);
        let own = contents::read(driver, at, &self.reached.regions, is_written).map_err(unread)?;
        if self.pinned.is_disturbed() {
            return Err(unread(Column::Disturbed));
        }
        let spool = spool::folder().ok_or_else(|| unread(Column::Unwritable))?;
        let (mut left, mut regions) = (Vec::new(), Vec::new());
        for (own, woven) in own.into_iter().zip(std::mem::take(&mut self.woven)) {
            if own.draft.piece().blob == woven.draft.piece().blob {
                continue;
            }
            let keep = |taken: Taken| taken.draft.keep(spool).map_err(|_| unread(Column::Unwritable));
            let region = own.region;
            let (own, woven) = (keep(own)?.blob, keep(woven)?.blob);
            left.push(self.left(region, own, woven, replacement));
            regions.push(region);
        }
        if left.is_empty() {
            return Ok(Verdict::Same);
        }
        let mut different = table::compare(&replacement.woven.program, replacement.name(), &left)?;
        if different.is_empty() {
            return Ok(Verdict::Same);
        }
        // A repetition would change the program's own variables.
        if replacement.woven.reply.variables.is_empty() {
            let kernel = self.own_kernel(driver, request, replacement)?;
            for _ in 0..REPETITIONS {
                self.copies.fill(&self.before.regions)?;
                run(driver, &self.queue, kernel.handle(), request)?;
                let again = contents::read(driver, at, &self.copies.regions, is_written).map_err(unread)?;
                let is_same = |index: usize| {
                    let own = &left[index].own;
                    again.iter().any(|taken| taken.region == regions[index] && taken.draft.piece().blob == *own)
                };
                different.retain(|(index, _)| is_same(*index));
            }
        }
        Ok(match different.into_iter().next() {
            Some((_, message)) => Verdict::Differs(Why::new(DIFFERS, message)),
            None => {
                let message = "the program's own kernel leaves something else each time";
                Verdict::Open(Why::new("not-reproduced", message))
            }
        })
    }

    fn left(&self, region: usize, own: String, woven: String, replacement: &Replacement) -> Left {
        let recipe = replacement.recipe();
        let reaches = |(argument, from): (usize, &Argument)| match *value_of(from, &self.reached, &self.members)? {
            Value::Memory { region: of, offset, size, .. } if of == region => {
                Some(Reaches { argument, offset, size: Some(size) })
            }
            Value::Svm { region: of, offset } if of == region => Some(Reaches { argument, offset, size: None }),
            _ => None,
        };
        let arguments = recipe.into_iter().flat_map(|recipe| recipe.arguments.iter().enumerate()).filter_map(reaches);
        let image = match &self.reached.regions[region].source {
            Source::Image(_, about) => {
                Some(Format { channel_order: about.channel_order, channel_type: about.channel_type })
            }
            _ => None,
        };
        Left { own, woven, arguments: arguments.collect(), image }
    }

    /// Makes the program's kernel once more, with copies as its memory.
    unsafe fn own_kernel(
        &mut self,
        driver: &'static Driver,
        request: &Request,
        replacement: &Replacement,
    ) -> Result<Owned, Why> {
        let mut program: cl_program = std::ptr::null_mut();
        let (to, size, none) = ((&raw mut program).cast(), size_of::<cl_program>(), std::ptr::null_mut());
        call!(driver, clGetKernelInfo(request.kernel, CL_KERNEL_PROGRAM, size, to, none));
        let mut error = 0;
        let kernel = match std::ffi::CString::new(replacement.name()) {
            Ok(name) => call!(driver, clCreateKernel(program, name.as_ptr(), &mut error) else std::ptr::null_mut()),
            Err(_) => std::ptr::null_mut(),
        };
        let kernel = Owned::new(driver, Kind::Kernel, kernel, error, "clCreateKernel")?;
        self.copies.set_all(kernel.handle(), &self.given, &self.reached, &self.members)?;
        replacement.set_exec_info(kernel.handle(), &self.settings)?;
        Ok(kernel)
    }
}
