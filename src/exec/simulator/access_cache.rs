//! Caches what the access hook needs to know of a site, once per run and slot.

use super::program::{NONE, Site};
use super::shadow::{CheckKind, FastPath, Shadow};
use crate::lower::host::abi::Extent;

/// A site whose pointer can only come from one object.
#[derive(Debug, Clone, Copy)]
pub struct CachedSite {
    /// The object's address.
    base: u64,
    /// The number of offsets in the object at which the access fits; 0 if its check is more complex.
    valid_offsets: u64,
    /// The address bits that must be zero.
    misaligned: u32,
    /// Number in the table.
    pub object: u32,
    pub fast_path: FastPath,
}

impl CachedSite {
    /// Computes the entry of the site `number`, which is described by `site`, for the groups of `slot`. `extents`: by
    /// object; `owners`: see [`super::launch::PreparedLaunch::owners`]; `shadow`: the race detector, in a run with it.
    pub fn new(
        (number, site): (u32, &Site),
        slot: u32,
        extents: &[Extent],
        owners: &[u32],
        shadow: Option<&mut Shadow>,
    ) -> CachedSite {
        let object = owners.get(site.object as usize).copied().unwrap_or(site.object);
        let known = extents.get(site.object as usize).filter(|_| site.object != NONE && !site.forbidden);
        let bytes = known.map_or(0, |e| e.bytes);
        let fast_path = match (known, shadow) {
            (_, None) => FastPath::without_cells(CheckKind::Unchecked),
            (None, Some(_)) => FastPath::without_cells(CheckKind::Slow),
            (Some(_), Some(shadow)) => shadow.fast_path(slot, number, object, u64::from(site.bytes), bytes),
        };
        CachedSite {
            base: known.map_or(0, |e| e.base),
            valid_offsets: (bytes + 1).saturating_sub(u64::from(site.bytes.max(1))),
            misaligned: site.misaligned,
            object,
            fast_path,
        }
    }

    /// The offset of the address in the object, if the access is valid there.
    #[inline(always)]
    pub fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.valid_offsets && address & u64::from(self.misaligned) == 0).then_some(offset)
    }
}
