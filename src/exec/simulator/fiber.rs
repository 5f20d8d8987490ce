//! Stacks on which code runs and stops in the middle.
//!
//! A fiber runs one work-item after the other: as long as none has to wait, one fiber runs a whole group. Where an item waits (a
//! barrier, a preemption, a spent slice of fuel), its fiber is suspended, and another one goes on.

use std::ops::Range;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};

use super::work_group::Item;
use crate::error::{Error, Result};

/// Room for hooks and for what code spills, in bytes, besides private variables.
const MARGIN: u64 = 192 << 10;

/// Of the processor's caches, and how many of them make a page.
const LINE: usize = 64;
const LINES: usize = 64;

/// The signature of compiled kernels; see [`crate::lower::host::abi`].
pub type Entry = unsafe extern "C" fn(*mut Item, *const *const u8);

/// What a fiber runs, and its way back. Lies at a fixed address, which the fiber's code and the hooks know.
pub struct Task {
    pub entry: Entry,
    /// Null: nothing to do.
    pub item: *mut Item,
    yielder: *const Yielder<(), ()>,
    /// After an item has ended: the item to run next without going back, or null.
    next: unsafe fn(*mut Item) -> *mut Item,
    stack: Range<u64>,
}

impl Task {
    /// Addresses of the fiber's stack.
    pub fn stack(&self) -> Range<u64> {
        self.stack.clone()
    }

    /// Stops the running item; returns when its fiber is resumed, or never.
    ///
    /// # Safety
    /// Called on the fiber of this task, by code that leaves nothing behind if it never goes on.
    pub unsafe fn suspend(task: *mut Task) {
        // SAFETY: the yielder lives on the running fiber's stack for as long as the fiber.
        unsafe { (*(*task).yielder).suspend(()) };
    }
}

/// A stack that begins a little below its end, each one elsewhere: what items use most would otherwise lie at the same place of every
/// page, and drive each other from the processor's first cache.
struct Shifted {
    stack: DefaultStack,
    base: StackPointer,
}

impl Shifted {
    /// `number`: of the fiber.
    fn new(bytes: usize, number: usize) -> std::io::Result<Shifted> {
        let stack = DefaultStack::new(bytes + LINES * LINE)?;
        // An odd factor goes through all lines; neighbours are far apart.
        let shift = number.wrapping_mul(7) % LINES * LINE;
        let base = StackPointer::new(stack.base().get() - shift).unwrap_or(stack.base());
        Ok(Shifted { stack, base })
    }
}

// SAFETY: the end of the stack inside is aligned to a page, and so is the shift to a line; the guard page is that of the stack
// inside, and what was taken away in front of it was added before.
unsafe impl Stack for Shifted {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }
}

/// A stack with the item that runs on it.
pub struct Fiber {
    /// Always there, but while its stack changes hands.
    coroutine: Option<Coroutine<(), (), (), Shifted>>,
    task: Box<Task>,
}

// SAFETY: a fiber changes threads only while it is idle; then its stack holds nothing but the closure's frame, with pointers
// to its own task.
unsafe impl Send for Fiber {}

/// How a fiber came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Back {
    /// It has nothing to do.
    Idle,
    /// Its item was suspended.
    Suspended,
}

fn start(stack: Shifted, task: *mut Task) -> Coroutine<(), (), (), Shifted> {
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        // SAFETY: the fiber that owns the task owns this stack too, and resumes it only with an item to run.
        unsafe {
            (*task).yielder = yielder;
            loop {
                while !(*task).item.is_null() {
                    let item = (*task).item;
                    (*item).task = task;
                    ((*task).entry)(item, (*item).arguments);
                    // A fiber may be resumed by another owner of its item than the one that began it, so all is read anew.
                    (*task).item = ((*task).next)(item);
                }
                yielder.suspend(());
            }
        }
    })
}

impl Fiber {
    /// `number`: of the fiber, in its lane; `private_bytes`: what an item's variables take at most.
    ///
    /// # Errors
    /// `Environment` if the system gives no stack.
    pub fn new(
        number: usize,
        private_bytes: u64,
        entry: Entry,
        next: unsafe fn(*mut Item) -> *mut Item,
    ) -> Result<Fiber> {
        let stack = Shifted::new(stack_bytes(private_bytes), number).map_err(|e| {
            Error::environment(format!("the system gives no stack for a work-item: {e}"))
                .help("use smaller work-groups or private arrays, or free some memory")
        })?;
        let range = stack.limit().get() as u64..stack.base().get() as u64;
        let (item, yielder) = (std::ptr::null_mut(), std::ptr::null());
        let mut task = Box::new(Task { entry, item, yielder, next, stack: range });
        let coroutine = Some(start(stack, &raw mut *task));
        Ok(Fiber { coroutine, task })
    }

    /// Runs `item`, from its beginning if the fiber is idle, else from where it was suspended.
    pub fn run(&mut self, item: *mut Item, entry: Entry) -> Back {
        if self.task.item.is_null() {
            self.task.item = item;
            self.task.entry = entry;
        }
        if let Some(coroutine) = &mut self.coroutine {
            coroutine.resume(());
        }
        if self.task.item.is_null() { Back::Idle } else { Back::Suspended }
    }

    /// The item that runs on it; null if none does.
    pub fn item(&self) -> *mut Item {
        self.task.item
    }

    /// Forgets the suspended item: it will never go on.
    pub fn abandon(&mut self) {
        self.task.item = std::ptr::null_mut();
        if let Some(mut coroutine) = self.coroutine.take() {
            // SAFETY: what the stack holds are frames of compiled kernels, of hooks that own nothing while suspended, and of
            // the closure in `start`, which owns nothing at all.
            unsafe { coroutine.force_reset() };
            self.coroutine = Some(start(coroutine.into_stack(), &raw mut *self.task));
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if let Some(coroutine) = &mut self.coroutine
            && coroutine.started()
            && !coroutine.done()
        {
            // SAFETY: as in `abandon`.
            unsafe { coroutine.force_reset() };
        }
    }
}

/// Compilers may need more than the variables' own bytes: alignment, temporaries at low optimisation levels.
fn stack_bytes(private_bytes: u64) -> usize {
    usize::try_from(private_bytes.saturating_mul(2).saturating_add(MARGIN)).unwrap_or(usize::MAX / 2)
}
