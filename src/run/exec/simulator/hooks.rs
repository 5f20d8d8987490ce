//! The hooks: functions that compiled code calls; see [`kassay_model::native::abi::hook`].
//!
//! They run on the work-item's stack, and a work-item may be suspended in them forever: whatever they own at that point
//! is never freed. None of them panics, because compiled code cannot be unwound.
//!
//! A hook is `unsafe` to call if it needs more than its work-item ([`ItemRef`]): that numbers of sites are those of the
//! program's table, or that what it is given points to lies in memory that it may use. Compiled code passes both as
//! `lower::native` wove it.

use std::time::Instant;

use kassay_model::native::abi::hook;

use super::item_ref::ItemRef;
use super::observation::FaultKind;
use super::{access_hooks, flow_hooks, group_sync, image_hooks, printf, warp_sync};

/// Names and addresses of all hooks.
pub fn addresses() -> [(&'static str, usize); hook::ALL.len()] {
    [
        (hook::ACCESS, access_hooks::access as *const () as usize),
        (hook::COMPARE_EXCHANGE, access_hooks::compare_exchange as *const () as usize),
        (hook::SPAN, access_hooks::span as *const () as usize),
        (hook::CHECK, access_hooks::check as *const () as usize),
        (hook::INNER, access_hooks::inner as *const () as usize),
        (hook::DIVISION, access_hooks::division as *const () as usize),
        (hook::TRAP, access_hooks::trap as *const () as usize),
        (hook::FUEL, fuel as *const () as usize),
        (hook::BARRIER, group_sync::barrier as *const () as usize),
        (hook::EXCHANGE, group_sync::exchange_values as *const () as usize),
        (hook::WARP, warp_sync::warp_function as *const () as usize),
        (hook::FENCE, fence as *const () as usize),
        (hook::ASYNC_COPY, group_sync::async_copy as *const () as usize),
        (hook::WAIT, group_sync::wait as *const () as usize),
        (hook::PRINT, print as *const () as usize),
        (hook::IMAGE_READ, image_hooks::read as *const () as usize),
        (hook::IMAGE_WRITE, image_hooks::write as *const () as usize),
        (hook::IMAGE_QUERY, image_hooks::query as *const () as usize),
        (hook::MEMORY, access_hooks::memory as *const () as usize),
        (hook::COMPARISON, compare as *const () as usize),
        (hook::PAIR, flow_hooks::pair as *const () as usize),
        (hook::FLOW, flow_hooks::flow as *const () as usize),
        (hook::ALLOCATE, access_hooks::allocate as *const () as usize),
        (hook::ALLOCATED, access_hooks::allocated as *const () as usize),
        (hook::RELEASE, access_hooks::release as *const () as usize),
    ]
}

/// The hook of fences.
extern "C" fn fence(mut item: ItemRef<'_>, _site: u32, flags: u32, order: u32, scope: u32) {
    let accessor = item.accessor_of_next();
    if let Some(shadow) = item.shadow() {
        shadow.fence(accessor, flags, order, scope);
    }
}

/// The hook of loops whose fuel is used up: returns the next slice.
extern "C" fn fuel(mut item: ItemRef<'_>, site: u32) -> i64 {
    item.arrive_at((site, 0));
    let plan = item.plan();
    if Instant::now() < plan.deadline {
        return item.next_slice() as i64;
    }
    if plan.is_budget {
        let global_id = item.ids().global_id;
        let run = item.run_mut();
        run.seen.cut_short = true;
        run.seen.cut_at = Some((site, global_id));
    } else {
        item.note(FaultKind::NonTermination, site, None, 0);
    }
    item.end_run_late();
    // Reached only if the work-item leaves.
    0
}

/// The hook of comparison `number`, of the given `kind`, on the operands `a` and `b`.
extern "C" fn compare(mut item: ItemRef<'_>, number: u32, kind: u32, a: u64, b: u64) {
    if let Some(observer) = item.run_mut().observer() {
        observer.comparison(number, kind, a, b);
    }
}

/// The hook of `printf`.
///
/// # Safety
/// `site` is a site of the program, and `packed` has the arguments as that describes them.
unsafe extern "C" fn print(mut item: ItemRef<'_>, site: u32, format: *const u8, packed: *const u8) {
    let table = item.program().table();
    let (run, slot) = item.run_and_slot_mut();
    if run.printed.len() >= printf::MAX_PRINTED_BYTES {
        return;
    }
    // A string may be read up to the end of its object.
    let string = |address: u64| -> &[u8] {
        let region = slot.regions.iter().find(|r| address.wrapping_sub(r.base) < r.bytes);
        let Some(region) = region else { return b"(null)" };
        let length = region.bytes - (address - region.base);
        // SAFETY: the bytes lie in a region of the group's memory, which nothing changes while the hook runs.
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, length as usize) };
        &bytes[..bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len())]
    };
    let known = &table.prints[site as usize];
    let format = known.format.as_deref().unwrap_or_else(|| string(format as u64));
    let end = printf::packed_bytes(&known.args);
    // SAFETY: the caller passes arguments that are packed as the site describes.
    let packed = if end == 0 { &[] } else { unsafe { std::slice::from_raw_parts(packed, end) } };
    printf::write(&mut run.printed, format, &known.args, packed, string);
}
