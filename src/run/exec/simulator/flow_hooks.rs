//! The hooks of definitions and uses.

use kassay_model::native::abi::flow::COLLECTIVE;

use super::flow::GROUP;
use super::item_ref::ItemRef;
use super::launch::Region;
use super::observer::SharedFlow;
use super::program::NONE;

/// The hook of pairs of private variables.
pub extern "C" fn pair(mut item: ItemRef<'_>, number: u32) {
    if let Some(observer) = item.run_mut().observer() {
        observer.pair(number);
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
    let near = item.private().near(&table.placed, address);
    let (run, slot) = item.run_and_slot_mut();
    let Some(observer) = run.observer() else { return };
    let (pieces, bytes) = match stride {
        0 => (count.min(1), bytes),
        _ if stride == bytes => (count.min(1), bytes.saturating_mul(count)),
        _ => (count, bytes),
    };
    let first = address;
    for piece in 0..pieces {
        let address = address.wrapping_add(piece.wrapping_mul(stride));
        let on_stack = (stack.contains(&address) && stack.end - address >= bytes).then_some(address);
        // Pieces are pieces of one variable.
        let apart = near.and_then(|near| {
            let within = address.wrapping_sub(first.wrapping_sub(near.offset as u64));
            let inside = within < near.bytes && near.bytes - within >= bytes;
            inside.then(|| (near.base as u64).wrapping_add(within))
        });
        if let Some(memory) = on_stack.or(apart) {
            let number = slot.group.wrapping_mul(slot.items.len() as u64).wrapping_add(u64::from(index));
            observer.private_flow(number, access, flags, memory, bytes);
            continue;
        }
        let inside = |region: &&Region| {
            let offset = address.wrapping_sub(region.base);
            offset < region.bytes && region.bytes - offset >= bytes
        };
        let Some(region) = slot.regions.iter().filter(|region| region.object != NONE).find(inside) else { return };
        let shares = (0..).zip(&slot.homes).any(|(object, home)| object != home.owner || home.start > 0);
        let granule = table.granule.get(region.owner as usize).copied().filter(|_| !shares).unwrap_or(1);
        let (slot, item) = (slot.number, if collective { GROUP } else { index });
        let offset = region.start + (address - region.base);
        observer.shared_flow(&SharedFlow { slot, item, access, flags, region, granule, offset, bytes });
    }
}
