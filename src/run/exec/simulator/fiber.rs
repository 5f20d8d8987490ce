//! Fibers: stacks on which compiled code runs and can be suspended.
//!
//! A fiber runs one work-item after the other: as long as none has to wait, one fiber runs a whole group. When a
//! work-item waits (at a barrier, a preemption, the end of a slice of fuel), its fiber is suspended and another
//! one continues.

use std::ops::Range;
use std::ptr::NonNull;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};
use kassay_base::error::{Error, Result};

use super::private_memory::{PrivateMemory, PrivateNeeds};

/// Stack space for hooks and for what code spills, in bytes, on top of private variables.
const HOOK_STACK_BYTES: u64 = 192 << 10;

/// Size of a cache line in bytes, and number of cache lines in a page.
const CACHE_LINE: usize = 64;
const LINES_PER_PAGE: usize = 64;

/// Runs an item on the fiber of the task; returns the item to run next without switching fibers, or null.
pub type RunItem<I> = unsafe fn(*mut Task<I>, *mut I) -> *mut I;

/// The state that a fiber shares with the items that run on it. It has a fixed address, which both know.
pub struct Task<I> {
    /// Null if there is nothing to run.
    item: *mut I,
    yielder: *const Yielder<(), ()>,
    run: RunItem<I>,
    stack: Range<u64>,
    private: PrivateMemory,
}

impl<I> Task<I> {
    /// The addresses of the fiber's stack.
    pub fn stack(&self) -> Range<u64> {
        self.stack.clone()
    }

    /// The private memory of the item, apart from the stack.
    pub fn private(&self) -> &PrivateMemory {
        &self.private
    }

    /// The private memory of the item, to be changed.
    pub fn private_mut(&mut self) -> &mut PrivateMemory {
        &mut self.private
    }

    /// Suspends the running item; returns when its fiber is resumed, or never.
    ///
    /// # Safety
    /// Must be called on the fiber of this task, by code that leaves nothing to clean up if it is never resumed.
    pub unsafe fn suspend(task: *const Task<I>) {
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

/// A stack with the item that runs on it: a work-item, or whatever else its [`RunItem`] runs.
pub struct Fiber<I: 'static> {
    /// Always `Some`, except while its stack moves to a new coroutine.
    coroutine: Option<Coroutine<(), (), (), ShiftedStack>>,
    /// Owned; a raw pointer because the fiber's code holds another one.
    task: NonNull<Task<I>>,
}

// SAFETY: a fiber moves between threads only while it is idle; then its stack holds only the frame of the closure in
// `start`, which points to the fiber's own task.
unsafe impl<I> Send for Fiber<I> {}

/// Why a fiber returned control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FiberState {
    /// It has nothing to run.
    Idle,
    /// Its item was suspended.
    Suspended,
}

fn start<I: 'static>(stack: ShiftedStack, task: NonNull<Task<I>>) -> Coroutine<(), (), (), ShiftedStack> {
    let task = task.as_ptr();
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        // SAFETY: the fiber that owns `task` also owns this stack, so the task outlives the closure, and the fiber is
        // resumed only with a live item to run.
        unsafe {
            (*task).yielder = yielder;
            loop {
                while !(*task).item.is_null() {
                    (*task).item = ((*task).run)(task, (*task).item);
                }
                yielder.suspend(());
            }
        }
    })
}

impl<I: 'static> Fiber<I> {
    /// `number`: that of the fiber in its thread; `private_bytes`: the most that the variables of a work-item take on
    /// the stack; `needs`: what they take elsewhere.
    ///
    /// # Errors
    /// `Environment` if the system cannot provide the memory.
    pub fn new(number: usize, private_bytes: u64, needs: PrivateNeeds, run: RunItem<I>) -> Result<Fiber<I>> {
        let stack = ShiftedStack::new(stack_bytes(private_bytes), number).map_err(|e| {
            Error::environment(format!("the system gives no stack for a work-item: {e}"))
                .help("use smaller work-groups or private arrays, or free some memory")
        })?;
        let range = stack.limit().get() as u64..stack.base().get() as u64;
        let (item, yielder) = (std::ptr::null_mut(), std::ptr::null());
        let private = PrivateMemory::new(number, needs)?;
        let task = NonNull::from(Box::leak(Box::new(Task { item, yielder, run, stack: range, private })));
        let coroutine = Some(start(stack, task));
        Ok(Fiber { coroutine, task })
    }

    /// Runs `item`: from its beginning if the fiber is idle, else from where it was suspended.
    ///
    /// # Safety
    /// `item` is alive and may be run by the fiber's [`RunItem`]; so is whatever that runs after it. If the fiber is
    /// not idle, `item` is the one suspended on it.
    pub unsafe fn run(&mut self, item: *mut I) -> FiberState {
        if self.item().is_null() {
            // SAFETY: the task is alive as long as the fiber, and its code does not run.
            unsafe { (*self.task.as_ptr()).item = item };
        }
        if let Some(coroutine) = &mut self.coroutine {
            coroutine.resume(());
        }
        if self.item().is_null() { FiberState::Idle } else { FiberState::Suspended }
    }

    /// The item that runs on this fiber; null if none does.
    pub fn item(&self) -> *mut I {
        // SAFETY: the task is alive as long as the fiber, and its code does not run.
        unsafe { (*self.task.as_ptr()).item }
    }

    /// Discards the suspended item: it will never be resumed.
    pub fn abandon(&mut self) {
        // SAFETY: the task is alive as long as the fiber, and its code does not run.
        unsafe { (*self.task.as_ptr()).item = std::ptr::null_mut() };
        if let Some(mut coroutine) = self.coroutine.take() {
            // SAFETY: the stack holds only frames of compiled kernels, of hooks that own nothing while suspended, and
            // of the closure in `start`, which owns nothing; none of them needs to be unwound.
            unsafe { coroutine.force_reset() };
            self.coroutine = Some(start(coroutine.into_stack(), self.task));
        }
    }
}

impl<I: 'static> Drop for Fiber<I> {
    fn drop(&mut self) {
        if let Some(coroutine) = &mut self.coroutine
            && coroutine.started()
            && !coroutine.done()
        {
            // SAFETY: as in `abandon`, no frame on the stack owns anything that would have to be dropped.
            unsafe { coroutine.force_reset() };
        }
        // SAFETY: `new` leaked the task from a box, and the code that pointed to it will not run again.
        drop(unsafe { Box::from_raw(self.task.as_ptr()) });
    }
}

/// Compilers may need more than the variables' own bytes: for alignment, and for temporaries at low
/// optimisation levels.
fn stack_bytes(private_bytes: u64) -> usize {
    usize::try_from(private_bytes.saturating_mul(2).saturating_add(HOOK_STACK_BYTES)).unwrap_or(usize::MAX / 2)
}
