//! Finds out what an address refers to, among the memory that a work-item may access.

use kassay_model::native::abi::private;
use kassay_model::native::table::Space;

use super::item_ref::ItemRef;
use super::observation::FaultKind;
use super::program::{NONE, Site, breach, writes};
use super::shadow::Place;

/// The first bytes of the address space, where null pointers lead.
const NULL_PAGE: u64 = 4096;

/// The distance from an object within which an address is reported as lying before or after it.
const NEAR: u64 = super::memory::GAP / 2;

/// What an address refers to, or what is wrong with it.
#[derive(Debug, Clone, Copy)]
pub enum Lookup {
    /// A place in an object.
    At(Place),
    /// Memory that has no shadow: the code's constants.
    Unshared,
    /// Private memory, and where that lies.
    Private(*mut u8),
    Fault(FaultKind, Option<u32>, i64),
    /// A place in an object that the host has not made for such accesses. What they do is not defined; mostly what they
    /// do elsewhere, which is what is done here.
    Breach(FaultKind, Option<u32>, i64, Option<Place>),
}

impl Lookup {
    /// Returns whether the access must be skipped.
    pub fn is_fault(&self) -> bool {
        matches!(self, Lookup::Fault(..))
    }

    /// The memory that `address` stands for; `None` if the access must be skipped.
    pub fn memory(&self, address: *mut u8) -> Option<*mut u8> {
        match self {
            Lookup::At(_) | Lookup::Unshared | Lookup::Breach(..) => Some(address),
            Lookup::Private(memory) => Some(*memory),
            Lookup::Fault(..) => None,
        }
    }

    /// The place, if the memory is shared.
    pub fn place(&self) -> Option<Place> {
        match self {
            Lookup::At(place) => Some(*place),
            Lookup::Breach(.., place) => *place,
            Lookup::Unshared | Lookup::Private(_) | Lookup::Fault(..) => None,
        }
    }
}

/// Checks an access of `bytes` bytes by `site` and records a fault, without the race detector.
pub fn check(item: &mut ItemRef<'_>, address: u64, site: u32, bytes: u64) -> Lookup {
    let found = find(item, item.site(site), address, bytes);
    if let Lookup::Fault(kind, object, offset) | Lookup::Breach(kind, object, offset, _) = found {
        let ids = item.ids();
        item.run_mut().faults.note_access(ids, (kind, site), object, (offset, bytes));
    }
    found
}

/// Finds `bytes` bytes at `address` in the memory that the work-item's group may access.
pub fn find(item: &ItemRef<'_>, at: &Site, address: u64, bytes: u64) -> Lookup {
    if address < NULL_PAGE {
        return Lookup::Fault(FaultKind::Null, (at.object != NONE).then_some(at.object), address as i64);
    }
    if (private::BEGIN..private::END).contains(&address) {
        return find_private(item, at, address, bytes);
    }
    let slot = item.slot();
    let mut near = None;
    let mut breached = None;
    for region in &slot.regions {
        let offset = address.wrapping_sub(region.base) as i64;
        let object = (region.object != NONE).then_some(region.object);
        // The pointer comes from this object, or its origin is unknown but its address space fits.
        let wanted = match at.object {
            NONE => may_point_to(at.space, region.space),
            // A write to a constant of the code.
            _ if at.forbidden && region.object == NONE => true,
            known => known == region.object,
        };
        if offset < -(NEAR as i64) || offset >= (region.bytes + NEAR) as i64 {
            continue;
        }
        let inside = offset >= 0 && offset as u64 <= region.bytes && region.bytes - offset as u64 >= bytes;
        if !inside || !wanted {
            near = near.or(object.filter(|_| wanted).map(|o| (o, offset)));
            continue;
        }
        if at.is_misaligned(address) {
            return Lookup::Fault(FaultKind::Misaligned, object, offset);
        }
        if writes(at.mode) && region.space == Space::Constant {
            let object = object.or((at.object != NONE).then_some(at.object));
            return Lookup::Fault(FaultKind::ReadOnlyWrite, object, offset);
        }
        let is_shared = object.is_some() && region.space != Space::Constant;
        let place = Place { object: region.owner, offset: region.start + offset as u64 };
        if let Some(kind) = breach(region.access, at.mode) {
            // A pointer of unknown origin may be that of another argument with the same memory.
            breached = breached.or(Some(Lookup::Breach(kind, object, offset, is_shared.then_some(place))));
            continue;
        }
        return if is_shared { Lookup::At(place) } else { Lookup::Unshared };
    }
    if let Some(breached) = breached {
        return breached;
    }
    // The object that the pointer comes from, wherever it leads now.
    if at.object != NONE {
        let base = slot.extents[at.object as usize].base;
        let offset = if base == 0 { 0 } else { address.wrapping_sub(base) as i64 };
        return Lookup::Fault(FaultKind::OutOfBounds, Some(at.object), offset);
    }
    let (object, offset) = near.map_or((None, 0), |(object, offset)| (Some(object), offset));
    Lookup::Fault(FaultKind::OutOfBounds, object, offset)
}

/// Returns the kind of memory that an address belongs to; addresses close to an object count as its own, because
/// pointers to what is just beyond it are common.
pub fn memory(item: &ItemRef<'_>, address: u64) -> Space {
    let is_of = |base: u64, bytes: u64| address.wrapping_sub(base).wrapping_add(NEAR) < bytes + 2 * NEAR;
    let region = item.slot().regions.iter().find(|region| is_of(region.base, region.bytes));
    region.map_or(Space::Private, |region| region.space)
}

/// Finds `bytes` bytes at an address of private memory.
fn find_private(item: &ItemRef<'_>, at: &Site, address: u64, bytes: u64) -> Lookup {
    let near = item.private().near(&item.program().table().placed, address);
    let object = (at.object != NONE).then_some(at.object);
    let wanted = matches!(at.space, Space::Private | Space::Generic);
    let Some(near) = near.filter(|near| wanted && object.is_none_or(|object| object == near.object)) else {
        return Lookup::Fault(FaultKind::OutOfBounds, object, 0);
    };
    let inside = u64::try_from(near.offset).is_ok_and(|from| from <= near.bytes && near.bytes - from >= bytes);
    if !inside {
        return Lookup::Fault(FaultKind::OutOfBounds, Some(near.object), near.offset);
    }
    let memory = near.base.wrapping_add(near.offset as usize);
    if at.is_misaligned(memory as u64) {
        return Lookup::Fault(FaultKind::Misaligned, Some(near.object), near.offset);
    }
    Lookup::Private(memory)
}

/// Returns whether a pointer to `pointer` may point to memory of kind `memory`. Constant memory is global memory that
/// is only read.
fn may_point_to(pointer: Space, memory: Space) -> bool {
    pointer == Space::Generic || pointer == memory || (pointer, memory) == (Space::Global, Space::Constant)
}
