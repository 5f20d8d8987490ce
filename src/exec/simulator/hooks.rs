//! The hooks: functions that compiled code calls; see [`crate::lower::host::abi::hook`].
//!
//! They run on the work-item's stack, and a work-item may be suspended in them forever: whatever they own at that point
//! is never freed. None of them panics, because compiled code cannot be unwound.

use std::time::Instant;

use super::exec_thread::ExecThread;
use super::observation::FaultKind;
use super::program::{NONE, Site, writes};
use super::schedule::SLICE;
use super::shadow::{Accessor, Place};
use super::work_group::{Item, State};
use super::{compare, group_sync, image_hooks, printf};
use crate::lower::host::abi::hook;
use crate::lower::host::table::Space;

/// The first bytes of the address space, where null pointers lead.
const NULL_PAGE: u64 = 4096;

/// The distance from an object within which an address is reported as lying before or after it.
const NEAR: u64 = super::memory::GAP / 2;

/// Names and addresses of all hooks.
pub fn addresses() -> [(&'static str, usize); hook::ALL.len()] {
    [
        (hook::ACCESS, access as *const () as usize),
        (hook::COMPARE_EXCHANGE, compare_exchange as *const () as usize),
        (hook::SPAN, span as *const () as usize),
        (hook::CHECK, check as *const () as usize),
        (hook::INNER, inner as *const () as usize),
        (hook::DIVISION, division as *const () as usize),
        (hook::FUEL, fuel as *const () as usize),
        (hook::BARRIER, group_sync::barrier as *const () as usize),
        (hook::EXCHANGE, group_sync::exchange as *const () as usize),
        (hook::FENCE, fence as *const () as usize),
        (hook::ASYNC_COPY, group_sync::async_copy as *const () as usize),
        (hook::WAIT, group_sync::wait as *const () as usize),
        (hook::PRINT, printf::print as *const () as usize),
        (hook::IMAGE_READ, image_hooks::read as *const () as usize),
        (hook::IMAGE_WRITE, image_hooks::write as *const () as usize),
        (hook::IMAGE_QUERY, image_hooks::query as *const () as usize),
        (hook::COMPARISON, compare::compare as *const () as usize),
    ]
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessCheck {
    Good,
    Bad,
}

/// What an address refers to, or what is wrong with it.
#[derive(Debug, Clone, Copy)]
enum Lookup {
    /// An offset in this object.
    At(u32, u64),
    /// Memory that has no shadow: private variables, the code's constants.
    Unshared,
    Fault(FaultKind, Option<u32>, i64),
}

/// The hook of accesses of known length; its fast path.
unsafe extern "C" fn access(item: *mut Item, address: *mut u8, site: u32) -> *mut u8 {
    // SAFETY: compiled code passes its own work-item, which is alive with its slot and thread, and a site of its table.
    unsafe {
        let number = (*item).accesses;
        (*item).accesses = number + 1;
        let cached = &*(*item).site_cache.add(site as usize);
        if number != (*item).stop_at
            && let Some(offset) = cached.offset(address as u64)
            && cached.fast_path.pass((*item).group, (*item).index, offset)
        {
            return address;
        }
        slow_access(item, address, site)
    }
}

/// The hook of compare-exchanges.
unsafe extern "C" fn compare_exchange(item: *mut Item, address: *mut u8, site: u32, expected: u64) -> *mut u8 {
    // SAFETY: as in `access`; the read is in bounds, as was just checked, and no other work-item of this thread runs
    // before the access.
    unsafe {
        let number = (*item).accesses;
        if number == (*item).stop_at {
            group_sync::preempt(item, number);
        }
        let at = &*(*(*item).thread).sites.add(site as usize);
        let is_there = (*(*item).site_cache.add(site as usize)).offset(address as u64).is_some()
            || matches!(find(item, at, address as u64, u64::from(at.bytes)), Lookup::At(..) | Lookup::Unshared);
        let mut there = 0_u64;
        let bytes = at.bytes.min(8) as usize;
        if is_there {
            std::ptr::copy_nonoverlapping(address, (&raw mut there).cast::<u8>(), bytes);
        }
        let fails = is_there && there != expected;
        access(item, address, site + u32::from(fails))
    }
}

/// The slow path of [`access`], which handles everything.
#[inline(never)]
unsafe extern "C" fn slow_access(item: *mut Item, address: *mut u8, site: u32) -> *mut u8 {
    // SAFETY: as in `access`: the work-item is alive and the site is one of its table.
    unsafe {
        let thread = (*item).thread;
        let number = (*item).accesses.wrapping_sub(1);
        if number == (*item).stop_at {
            group_sync::preempt(item, number);
        }
        if (*thread).step() {
            end_group(item);
        }
        let cached = &*(*item).site_cache.add(site as usize);
        if let Some(offset) = cached.offset(address as u64) {
            if !(*thread).races || shadow_access(item, thread, site, cached.object, offset, address) {
                return address;
            }
            return uninitialised(item, address, site, cached.object, offset);
        }
        access_by_search(item, address, site)
    }
}

#[inline(always)]
unsafe fn shadow_access(
    item: *mut Item,
    thread: *mut ExecThread,
    site: u32,
    object: u32,
    offset: u64,
    address: *mut u8,
) -> bool {
    // SAFETY: the access has been checked, so the bytes exist; they stay until the launch ends.
    unsafe {
        let shadow = &mut *(*thread).shadow;
        let initialised = shadow.access(accessor(item), site, Place { object, offset }, address);
        stop_at_first_conflict(item);
        initialised
    }
}

/// Ends the run if it has found a conflict and one is enough.
///
/// # Safety
/// `item` is running and has just reported an access to the race detector.
#[inline(always)]
pub unsafe fn stop_at_first_conflict(item: *mut Item) {
    // SAFETY: the caller guarantees that `item` is running, so its thread, plan and shadow memory are alive.
    unsafe {
        let thread = (*item).thread;
        if (*(*thread).plan).first_conflict && (*(*thread).shadow).has_conflict() {
            (*thread).over = true;
            end_group(item);
        }
    }
}

/// Identifies the work-item for the race detector.
///
/// # Safety
/// `item` is running, and its current access has been counted.
#[inline(always)]
pub unsafe fn accessor(item: *const Item) -> Accessor {
    // SAFETY: the caller guarantees that `item` is alive.
    unsafe { Accessor { slot: (*item).slot_number, item: (*item).index, number: (*item).accesses.wrapping_sub(1) } }
}

/// Handles accesses whose object is not known beforehand, and faults.
#[cold]
#[inline(never)]
unsafe fn access_by_search(item: *mut Item, address: *mut u8, site: u32) -> *mut u8 {
    // SAFETY: as in `access`: the work-item is alive and the site is one of its table.
    unsafe {
        let thread = (*item).thread;
        let at = &*(*thread).sites.add(site as usize);
        match find(item, at, address as u64, u64::from(at.bytes)) {
            Lookup::At(object, offset) => {
                if !(*thread).races || shadow_access(item, thread, site, object, offset, address) {
                    return address;
                }
                uninitialised(item, address, site, object, offset)
            }
            Lookup::Unshared => address,
            Lookup::Fault(kind, object, offset) => {
                (*thread).faults.note(item, kind, site, object, offset);
                redirect_to_sink(item, at, u64::from(at.bytes))
            }
        }
    }
}

/// Records a read of uninitialised local memory; the read itself is made.
#[cold]
#[inline(never)]
unsafe fn uninitialised(item: *mut Item, address: *mut u8, site: u32, object: u32, offset: u64) -> *mut u8 {
    // SAFETY: as in `access`: the work-item and its thread are alive.
    unsafe { (*(*item).thread).faults.note(item, FaultKind::Uninitialised, site, Some(object), offset as i64) };
    address
}

/// Returns the address that a skipped access uses instead.
unsafe fn redirect_to_sink(item: *mut Item, at: &Site, bytes: u64) -> *mut u8 {
    // SAFETY: as in `access`: the work-item and its thread are alive.
    unsafe {
        halt_after_fault(item);
        let thread = (*item).thread;
        // A skipped write does not need zeros, but others may later read from the sink.
        let bytes = bytes.max(u64::from(at.bytes));
        match (*thread).zeroed_sink(bytes) {
            Some(sink) => sink,
            None => end_group(item),
        }
    }
}

/// Ends the run after a fault, if one is enough.
unsafe fn halt_after_fault(item: *mut Item) {
    // SAFETY: as in `access`: the work-item and its thread are alive.
    unsafe {
        let thread = (*item).thread;
        if (*(*thread).plan).halts {
            (*thread).over = true;
            end_group(item);
        }
    }
}

/// Ends the work-item's group, because the work-item cannot continue.
unsafe fn end_group(item: *mut Item) -> ! {
    // SAFETY: as in `group_sync::suspend`, this hook owns nothing; the group is over, so the work-item is
    // never resumed.
    unsafe {
        (*(*item).slot).over = true;
        loop {
            group_sync::suspend(item);
        }
    }
}

/// The hook of accesses whose length is known only at run time.
unsafe extern "C" fn span(item: *mut Item, address: *mut u8, site: u32, bytes: u64) -> *mut u8 {
    // SAFETY: as in `access`: the work-item is alive and the site is one of its table.
    unsafe {
        let number = (*item).accesses;
        (*item).accesses = number + 1;
        if number == (*item).stop_at {
            group_sync::preempt(item, number);
        }
        let at = &*(*(*item).thread).sites.add(site as usize);
        match check_span(item, address, site, bytes) {
            AccessCheck::Good => address,
            AccessCheck::Bad => redirect_to_sink(item, at, bytes),
        }
    }
}

/// Checks an access of `bytes` bytes and reports it to the race detector. A fault is recorded.
///
/// # Safety
/// `item` is running; `site` is an access site of its table.
pub unsafe fn check_span(item: *mut Item, address: *mut u8, site: u32, bytes: u64) -> AccessCheck {
    // SAFETY: the caller guarantees that `item` is running, so its thread is alive, and that the site exists.
    unsafe {
        let thread = (*item).thread;
        if bytes == 0 {
            return AccessCheck::Good;
        }
        match check_and_log(item, address, site, bytes) {
            Lookup::At(object, offset) => {
                if (*thread).races {
                    let shadow = &mut *(*thread).shadow;
                    if !shadow.span(accessor(item), site, Place { object, offset }, bytes, address) {
                        uninitialised(item, address, site, object, offset);
                    }
                    stop_at_first_conflict(item);
                }
                AccessCheck::Good
            }
            Lookup::Unshared => AccessCheck::Good,
            Lookup::Fault(..) => AccessCheck::Bad,
        }
    }
}

/// Checks an access and records a fault, without the race detector. Also returns object and offset, if the memory
/// is shared.
///
/// # Safety
/// As for [`check_span`].
pub unsafe fn check_place(item: *mut Item, address: *mut u8, site: u32, bytes: u64) -> (AccessCheck, Option<Place>) {
    // SAFETY: the caller gives the guarantees of `check_span`, which `check_and_log` needs.
    unsafe {
        match check_and_log(item, address, site, bytes) {
            Lookup::At(object, offset) => (AccessCheck::Good, Some(Place { object, offset })),
            Lookup::Unshared => (AccessCheck::Good, None),
            Lookup::Fault(..) => (AccessCheck::Bad, None),
        }
    }
}

unsafe fn check_and_log(item: *mut Item, address: *mut u8, site: u32, bytes: u64) -> Lookup {
    // SAFETY: the callers give the guarantees of `check_span`: `item` is running and the site exists.
    unsafe {
        let thread = (*item).thread;
        let found = find(item, &*(*thread).sites.add(site as usize), address as u64, bytes);
        if let Lookup::Fault(kind, object, offset) = found {
            (*thread).faults.note(item, kind, site, object, offset);
        }
        found
    }
}

/// The hook of accesses that failed the inline check of bounds, in code without race detection.
unsafe extern "C" fn check(item: *mut Item, address: *mut u8, site: u32) -> *mut u8 {
    // SAFETY: as in `access`: the work-item is alive and the site is one of its table.
    unsafe {
        let thread = (*item).thread;
        let at = &*(*thread).sites.add(site as usize);
        match find(item, at, address as u64, u64::from(at.bytes)) {
            Lookup::At(..) | Lookup::Unshared => address,
            Lookup::Fault(kind, object, offset) => {
                (*thread).faults.note(item, kind, site, object, offset);
                redirect_to_sink(item, at, u64::from(at.bytes))
            }
        }
    }
}

/// Finds `bytes` bytes at `address` in the memory that the work-item's group may access.
unsafe fn find(item: *const Item, at: &Site, address: u64, bytes: u64) -> Lookup {
    // SAFETY: as in `access`: the work-item, its task and its slot are alive.
    unsafe {
        if address < NULL_PAGE {
            return Lookup::Fault(FaultKind::Null, (at.object != NONE).then_some(at.object), address as i64);
        }
        let stack = (*(*item).task).stack();
        let private = stack.contains(&address) && stack.end - address >= bytes;
        if private && matches!(at.space, Space::Private | Space::Generic) && at.object == NONE {
            return if address & u64::from(at.misaligned) == 0 {
                Lookup::Unshared
            } else {
                Lookup::Fault(FaultKind::Misaligned, None, 0)
            };
        }
        let mut near = None;
        let owners = &(*(*item).slot).owners;
        let wanted_object = owners.get(at.object as usize).copied().unwrap_or(at.object);
        for region in &(*(*item).slot).regions {
            let offset = address.wrapping_sub(region.base) as i64;
            let object = (region.object != NONE).then_some(region.object);
            // The pointer comes from this object, or its origin is unknown but its address space fits.
            let wanted =
                if at.object == NONE { may_point_to(at.space, region.space) } else { wanted_object == region.object };
            if offset < -(NEAR as i64) || offset >= (region.bytes + NEAR) as i64 {
                continue;
            }
            let inside = offset >= 0 && offset as u64 <= region.bytes && region.bytes - offset as u64 >= bytes;
            if !inside || !wanted {
                near = near.or(object.filter(|_| wanted).map(|o| (o, offset)));
                continue;
            }
            if address & u64::from(at.misaligned) != 0 {
                return Lookup::Fault(FaultKind::Misaligned, object, offset);
            }
            if writes(at.mode) && region.space == Space::Constant {
                return Lookup::Fault(FaultKind::ReadOnlyWrite, object, offset);
            }
            return match object {
                Some(object) if region.space != Space::Constant => Lookup::At(object, offset as u64),
                _ => Lookup::Unshared,
            };
        }
        // The object that the pointer comes from, wherever it leads now.
        if at.object != NONE {
            let base = (*(*item).extents.add(at.object as usize)).base;
            let offset = if base == 0 { 0 } else { address.wrapping_sub(base) as i64 };
            return Lookup::Fault(FaultKind::OutOfBounds, Some(at.object), offset);
        }
        let (object, offset) = near.map_or((None, 0), |(object, offset)| (Some(object), offset));
        Lookup::Fault(FaultKind::OutOfBounds, object, offset)
    }
}

/// Returns whether a pointer to `pointer` may point to memory of kind `memory`. Constant memory is global memory that
/// is only read.
fn may_point_to(pointer: Space, memory: Space) -> bool {
    pointer == Space::Generic || pointer == memory || (pointer, memory) == (Space::Global, Space::Constant)
}

/// The hook of bad divisions.
unsafe extern "C" fn division(item: *mut Item, site: u32) {
    // SAFETY: as in `access`: the work-item and its thread are alive.
    unsafe {
        (*(*item).thread).faults.note(item, FaultKind::Division, site, None, 0);
        halt_after_fault(item);
    }
}

/// The hook of indices beyond an inner array.
unsafe extern "C" fn inner(item: *mut Item, site: u32, index: i64, length: u64) {
    // SAFETY: as in `access`: the work-item is alive and the site is one of its table.
    unsafe {
        let thread = (*item).thread;
        let at = &*(*thread).sites.add(site as usize);
        let object = (at.object != NONE).then_some(at.object);
        (*thread).faults.note_inner(item, site, object, (index, length));
    }
}

/// The hook of fences.
unsafe extern "C" fn fence(item: *mut Item, site: u32, flags: u32, order: u32, scope: u32) {
    let _ = site;
    // SAFETY: as in `access`: the work-item and its thread are alive.
    unsafe {
        let thread = (*item).thread;
        if (*thread).races {
            let accessor = Accessor { number: (*item).accesses, ..accessor(item) };
            (*(*thread).shadow).fence(accessor, flags, order, scope);
        }
    }
}

/// The hook of loops whose fuel is used up: returns the next slice.
unsafe extern "C" fn fuel(item: *mut Item, site: u32) -> i64 {
    // SAFETY: as in `access`: the work-item, its slot and its thread are alive.
    unsafe {
        let thread = (*item).thread;
        (*item).at = (site, 0);
        let plan = &*(*thread).plan;
        if Instant::now() >= plan.deadline {
            if plan.is_budget {
                (*thread).cut_short = true;
                (*thread).cut_at = Some((site, (*item).context.global_id));
            } else {
                (*thread).faults.note(item, FaultKind::NonTermination, site, None, 0);
            }
            (*thread).over = true;
            (*item).state = State::Late;
            (*(*item).slot).over = true;
            group_sync::suspend(item);
            // Reached only if the work-item leaves.
            return 0;
        }
        (*(*item).slot).cursor = (*item).place + 1;
        let left = (*item).fuel_left;
        if left == 0 {
            (*item).spent = true;
            (*item).state = State::Exhausted;
            group_sync::suspend(item);
            return SLICE as i64;
        }
        (*thread).progressed = true;
        (*item).state = State::Spinning;
        group_sync::suspend(item);
        if left == u64::MAX {
            return SLICE as i64;
        }
        let slice = left.min(SLICE);
        (*item).fuel_left = left - slice;
        slice as i64
    }
}
