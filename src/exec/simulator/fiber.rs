//! Fibers: stacks on which compiled code runs and can be suspended.
//!
//! A fiber runs one work-item after the other: as long as none has to wait, one fiber runs a whole group. When a
//! work-item waits (at a barrier, a preemption, the end of a slice of fuel), its fiber is suspended and another
//! one continues.

use std::ops::Range;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};

use super::work_group::Item;
use crate::error::{Error, Result};

/// Stack space for hooks and for what code spills, in bytes, on top of private variables.
const HOOK_STACK_BYTES: u64 = 192 << 10;

/// Size of a cache line in bytes, and number of cache lines in a page.
const CACHE_LINE: usize = 64;
const LINES_PER_PAGE: usize = 64;

/// The signature of compiled kernels; see [`crate::lower::host::abi`].
pub type Entry = unsafe extern "C" fn(*mut Item, *const *const u8);

/// The state that a fiber shares with its code and with hooks. It has a fixed address, which both know.
pub struct Task {
    pub entry: Entry,
    /// Null if there is nothing to run.
    pub item: *mut Item,
    yielder: *const Yielder<(), ()>,
    /// Called after a work-item has ended: returns the work-item to run next without switching fibers, or null.
    next: unsafe fn(*mut Item) -> *mut Item,
    stack: Range<u64>,
}

impl Task {
    /// The addresses of the fiber's stack.
    pub fn stack(&self) -> Range<u64> {
        self.stack.clone()
    }

    /// Suspends the running work-item; returns when its fiber is resumed, or never.
    ///
    /// # Safety
    /// Must be called on the fiber of this task, by code that leaves nothing to clean up if it is never resumed.
    pub unsafe fn suspend(task: *mut Task) {
        // SAFETY: the caller runs on this task's fiber; the yielder lives on that fiber's stack for as long as
        // the fiber.
        unsafe { (*(*task).yielder).suspend(()) };
    }
}

/// A stack whose base is shifted by a number of cache lines that differs between fibers. Otherwise the most used bytes
/// of all work-items would lie at the same offset of every page and evict each other from the L1 cache.
struct ShiftedStack {
    stack: DefaultStack,
    base: StackPointer,
}

impl ShiftedStack {
    /// `number`: that of the fiber.
    fn new(bytes: usize, number: usize) -> std::io::Result<ShiftedStack> {
        let stack = DefaultStack::new(bytes + LINES_PER_PAGE * CACHE_LINE)?;
        // An odd factor visits all cache lines, and neighbouring fibers get distant ones.
        let shift = number.wrapping_mul(7) % LINES_PER_PAGE * CACHE_LINE;
        let base = StackPointer::new(stack.base().get() - shift).unwrap_or(stack.base());
        Ok(ShiftedStack { stack, base })
    }
}

// SAFETY: the base stays aligned, because the inner stack's base is aligned to a page and the shift is a multiple of a
// cache line; the guard page is that of the inner stack, and the usable size is at least `bytes`, because `new` added
// the largest shift.
unsafe impl Stack for ShiftedStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }
}

/// A stack with the work-item that runs on it.
pub struct Fiber {
    /// Always `Some`, except while its stack moves to a new coroutine.
    coroutine: Option<Coroutine<(), (), (), ShiftedStack>>,
    task: Box<Task>,
}

// SAFETY: a fiber moves between threads only while it is idle; then its stack holds only the frame of the closure in
// `start`, which points to the fiber's own task.
unsafe impl Send for Fiber {}

/// Why a fiber returned control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FiberState {
    /// It has nothing to run.
    Idle,
    /// Its work-item was suspended.
    Suspended,
}

fn start(stack: ShiftedStack, task: *mut Task) -> Coroutine<(), (), (), ShiftedStack> {
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        // SAFETY: the fiber that owns `task` also owns this stack, so the task outlives the closure, and the fiber is
        // resumed only with a live work-item to run.
        unsafe {
            (*task).yielder = yielder;
            loop {
                while !(*task).item.is_null() {
                    let item = (*task).item;
                    (*item).task = task;
                    ((*task).entry)(item, (*item).arguments);
                    // A work-item's fiber may have been resumed by another owner than the one that began it, so
                    // everything is read again.
                    (*task).item = ((*task).next)(item);
                }
                yielder.suspend(());
            }
        }
    })
}

impl Fiber {
    /// `number`: that of the fiber in its thread; `private_bytes`: the most that the variables of a work-item take.
    ///
    /// # Errors
    /// `Environment` if the system cannot provide a stack.
    pub fn new(
        number: usize,
        private_bytes: u64,
        entry: Entry,
        next: unsafe fn(*mut Item) -> *mut Item,
    ) -> Result<Fiber> {
        let stack = ShiftedStack::new(stack_bytes(private_bytes), number).map_err(|e| {
            Error::environment(format!("the system gives no stack for a work-item: {e}"))
                .help("use smaller work-groups or private arrays, or free some memory")
        })?;
        let range = stack.limit().get() as u64..stack.base().get() as u64;
        let (item, yielder) = (std::ptr::null_mut(), std::ptr::null());
        let mut task = Box::new(Task { entry, item, yielder, next, stack: range });
        let coroutine = Some(start(stack, &raw mut *task));
        Ok(Fiber { coroutine, task })
    }

    /// Runs `item`: from its beginning if the fiber is idle, else from where it was suspended.
    pub fn run(&mut self, item: *mut Item, entry: Entry) -> FiberState {
        if self.task.item.is_null() {
            self.task.item = item;
            self.task.entry = entry;
        }
        if let Some(coroutine) = &mut self.coroutine {
            coroutine.resume(());
        }
        if self.task.item.is_null() { FiberState::Idle } else { FiberState::Suspended }
    }

    /// The work-item that runs on this fiber; null if none does.
    pub fn item(&self) -> *mut Item {
        self.task.item
    }

    /// Discards the suspended work-item: it will never be resumed.
    pub fn abandon(&mut self) {
        self.task.item = std::ptr::null_mut();
        if let Some(mut coroutine) = self.coroutine.take() {
            // SAFETY: the stack holds only frames of compiled kernels, of hooks that own nothing while suspended, and
            // of the closure in `start`, which owns nothing; none of them needs to be unwound.
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
            // SAFETY: as in `abandon`, no frame on the stack owns anything that would have to be dropped.
            unsafe { coroutine.force_reset() };
        }
    }
}

/// Compilers may need more than the variables' own bytes: for alignment, and for temporaries at low
/// optimisation levels.
fn stack_bytes(private_bytes: u64) -> usize {
    usize::try_from(private_bytes.saturating_mul(2).saturating_add(HOOK_STACK_BYTES)).unwrap_or(usize::MAX / 2)
}
