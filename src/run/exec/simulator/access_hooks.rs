//! The hooks of accesses to memory: each is checked, and reported to observers, before it is made.

use kassay_model::native::abi::OF_ROWS;
use kassay_model::native::table::Space;

use super::item_ref::ItemRef;
use super::lockstep;
use super::lookup::{self, Lookup};
use super::observation::FaultKind;
use super::program::NONE;
use super::shadow::Place;

/// The hook of accesses of known length; its fast path.
///
/// # Safety
/// `site` is an access site of the program, which accesses `address`.
pub unsafe extern "C" fn access(mut item: ItemRef<'_>, address: *mut u8, site: u32) -> *mut u8 {
    // SAFETY: the caller passes a site of the program.
    unsafe { if item.access_fast(address as u64, site) { address } else { slow_access(item, address, site) } }
}

/// The hook of compare-exchanges.
///
/// # Safety
/// As for [`access`]; the next site is that of the read which a failing one makes instead.
pub unsafe extern "C" fn compare_exchange(
    mut item: ItemRef<'_>,
    address: *mut u8,
    site: u32,
    expected: u64,
) -> *mut u8 {
    item.preempt_before_next();
    lockstep::before_next_access(&mut item, site);
    let at = item.site(site);
    // SAFETY: the caller passes a site of the program; the read is in bounds, as is checked first, and no other
    // work-item of this thread runs before the access.
    unsafe {
        let memory = match item.cached_site(site).offset(address as u64) {
            Some(_) => Some(address),
            None => lookup::find(&item, at, address as u64, u64::from(at.bytes)).memory(address),
        };
        let mut there = 0_u64;
        if let Some(memory) = memory {
            std::ptr::copy_nonoverlapping(memory, (&raw mut there).cast::<u8>(), at.bytes.min(8) as usize);
        }
        let fails = memory.is_some() && there != expected;
        access(item, address, site + u32::from(fails))
    }
}

/// The slow path of [`access`], which handles everything.
#[inline(never)]
unsafe extern "C" fn slow_access(mut item: ItemRef<'_>, address: *mut u8, site: u32) -> *mut u8 {
    item.preempt_before_current();
    if item.run_mut().step() {
        item.end_group();
    }
    // SAFETY: as in `access`, the site is one of the program; the cache knows that the access is in bounds.
    unsafe {
        let cached = item.cached_site(site);
        match cached.offset(address as u64) {
            Some(offset) => {
                let place = Place { object: cached.owner, offset: cached.start + offset };
                let bytes = u64::from(item.site(site).bytes);
                report_access(&mut item, site, place, bytes, address);
                address
            }
            None => {
                let bytes = u64::from(item.site(site).bytes);
                access_by_search(item, address, site, bytes)
            }
        }
    }
}

/// Handles accesses whose object or length is not known beforehand, and faults.
#[cold]
#[inline(never)]
fn access_by_search(mut item: ItemRef<'_>, address: *mut u8, site: u32, bytes: u64) -> *mut u8 {
    match lookup::check(&mut item, address as u64, site, bytes) {
        Lookup::At(place) | Lookup::Breach(.., Some(place)) => {
            // SAFETY: the access has been found to be in bounds.
            unsafe { report_access(&mut item, site, place, bytes, address) };
            address
        }
        found => found.memory(address).unwrap_or_else(|| redirect_to_sink(item, site, bytes)),
    }
}

/// Tells the observer and the race detector, as far as there are any, of an access to `bytes` bytes.
///
/// # Safety
/// The access has been checked: the bytes exist, and stay until the launch ends.
#[inline(always)]
pub unsafe fn report_access(item: &mut ItemRef<'_>, site: u32, place: Place, bytes: u64, address: *const u8) {
    lockstep::before_access(item, site);
    let accessor = item.accessor();
    if let Some(observer) = item.run_mut().observer() {
        observer.access(accessor, site, place, bytes);
    }
    let Some(shadow) = item.shadow() else { return };
    // SAFETY: the caller guarantees that the bytes exist.
    let initialised = unsafe { shadow.access(accessor, site, place, bytes, address) };
    if item.plan().options.first_conflict && item.shadow().is_some_and(|shadow| shadow.has_conflict()) {
        item.end_run();
    }
    if !initialised {
        note_uninitialised(item, site, place);
    }
}

/// Records a read of uninitialised local memory; the read itself is made.
#[cold]
#[inline(never)]
pub fn note_uninitialised(item: &mut ItemRef<'_>, site: u32, place: Place) {
    item.note(FaultKind::Uninitialised, site, Some(place.object), place.offset as i64);
}

/// Returns the address that a skipped access of `bytes` bytes uses instead.
fn redirect_to_sink(mut item: ItemRef<'_>, site: u32, bytes: u64) -> *mut u8 {
    halt_after_fault(&mut item);
    // A skipped write does not need zeros, but others may later read from the sink.
    let bytes = bytes.max(u64::from(item.site(site).bytes));
    match item.run_mut().zeroed_sink(bytes) {
        Some(sink) => sink,
        None => item.end_group(),
    }
}

/// Ends the run after a fault, if one is enough.
fn halt_after_fault(item: &mut ItemRef<'_>) {
    if item.plan().options.halts {
        item.end_run();
    }
}

/// The hook of accesses whose length is known only at run time.
pub extern "C" fn span(mut item: ItemRef<'_>, address: *mut u8, site: u32, bytes: u64) -> *mut u8 {
    item.begin_access();
    if bytes == 0 { address } else { access_by_search(item, address, site, bytes) }
}

/// The hook of accesses that failed the inline check of bounds, in code without race detection.
pub extern "C" fn check(mut item: ItemRef<'_>, address: *mut u8, site: u32) -> *mut u8 {
    let bytes = u64::from(item.site(site).bytes);
    let found = lookup::check(&mut item, address as u64, site, bytes);
    found.memory(address).unwrap_or_else(|| redirect_to_sink(item, site, bytes))
}

/// The hook of variables that are made at run time.
pub extern "C" fn allocate(mut item: ItemRef<'_>, object: u32, count: u64, element: u64) -> u64 {
    item.private_mut().allocate(object, count.saturating_mul(element))
}

/// The hook that says how many of them live.
pub extern "C" fn allocated(item: ItemRef<'_>) -> u64 {
    item.private().allocated()
}

/// The hook that ends all but the first `count` of them.
pub extern "C" fn release(mut item: ItemRef<'_>, count: u64) {
    item.private_mut().release(count);
}

/// The hook of indices beyond an inner array, or a row ([`OF_ROWS`]).
pub extern "C" fn inner(mut item: ItemRef<'_>, site: u32, index: i64, length: u64) {
    let at = item.site(site);
    let object = (at.object != NONE).then_some(at.object);
    let ids = item.ids();
    let kind = if length & OF_ROWS == 0 { FaultKind::BeyondInner } else { FaultKind::BeyondRow };
    item.run_mut().faults.note_inner(ids, (kind, site), object, (index, length & !OF_ROWS));
}

/// The hook of bad divisions.
pub extern "C" fn division(mut item: ItemRef<'_>, site: u32) {
    item.note(FaultKind::Division, site, None, 0);
    halt_after_fault(&mut item);
}

/// The hook of failed assertions and other traps.
pub extern "C" fn trap(mut item: ItemRef<'_>, site: u32) {
    item.note(FaultKind::Trap, site, None, 0);
    halt_after_fault(&mut item);
    item.end_group()
}

/// The hook that tells kinds of memory apart, by the numbers of `cl_mem_fence_flags`.
pub extern "C" fn memory(item: ItemRef<'_>, address: *const u8) -> u32 {
    match lookup::memory(&item, address as u64) {
        Space::Local => 1,
        Space::Global | Space::Constant => 2,
        Space::Private | Space::Generic => 0,
    }
}
