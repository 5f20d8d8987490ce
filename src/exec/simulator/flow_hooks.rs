//! The hooks of definitions and uses.

use super::flow::{Accessor, GROUP};
use super::item_ref::ItemRef;
use super::launch::Region;
use super::program::NONE;
use crate::lower::host::abi::flow::COLLECTIVE;

/// The hook of pairs of private variables.
pub extern "C" fn pair(mut item: ItemRef<'_>, number: u32) {
    if let Some(tracker) = &mut item.run_mut().flow {
        tracker.note_pair(number);
    }
}

/// The hook of definitions and uses of memory. What lies outside of all objects is left out.
pub extern "C" fn flow(
    mut item: ItemRef<'_>,
    access: u32,
    flags: u32,
    address: u64,
    bytes: u64,
    count: u64,
    stride: u64,
) {
    let index = item.index();
    let collective = flags & COLLECTIVE != 0;
    // An access of the group is made once.
    if bytes == 0 || (collective && index != 0) {
        return;
    }
    let stack = item.stack();
    let table = item.program().table();
    let (run, slot) = item.run_and_slot_mut();
    let Some(tracker) = &mut run.flow else { return };
    let (pieces, bytes) = match stride {
        0 => (count.min(1), bytes),
        _ if stride == bytes => (count.min(1), bytes.saturating_mul(count)),
        _ => (count, bytes),
    };
    for piece in 0..pieces {
        let address = address.wrapping_add(piece.wrapping_mul(stride));
        if stack.contains(&address) && stack.end - address >= bytes {
            let number = slot.group.wrapping_mul(slot.items.len() as u64).wrapping_add(u64::from(index));
            tracker.private(number, access, flags, address, bytes);
            continue;
        }
        let inside = |region: &&Region| {
            let offset = address.wrapping_sub(region.base);
            offset < region.bytes && region.bytes - offset >= bytes
        };
        let Some(region) = slot.regions.iter().filter(|region| region.object != NONE).find(inside) else { return };
        let shares = (0..).zip(&slot.homes).any(|(object, home)| object != home.owner || home.start > 0);
        let granule = table.granule.get(region.owner as usize).copied().filter(|_| !shares).unwrap_or(1);
        let by = Accessor { slot: slot.number, item: if collective { GROUP } else { index }, group: slot.group as u32 };
        tracker.shared(by, access, flags, region, granule, (region.start + (address - region.base), bytes));
    }
}
