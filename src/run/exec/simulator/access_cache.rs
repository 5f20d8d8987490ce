//! Caches what the access hook needs to know of a site, once per run and slot.

use kassay_model::native::abi::Extent;
use kassay_suite::launch::BufferAccess;

use super::launch::Home;
use super::program::{NONE, Site, breach};
use super::shadow::{CheckKind, FastPath, Part, Shadow};

/// A site whose pointer can only come from one object.
#[derive(Debug, Clone, Copy)]
pub struct CachedSite {
    /// The object's address.
    base: u64,
    /// The number of offsets in the object at which the access fits; 0 if its check is more complex.
    valid_offsets: u64,
    /// The bits of the address that are given, and what they are: 0, or where a component lies in its vector.
    misaligned: u32,
    remainder: u32,
    /// The object that owns the memory, by its number in the table.
    pub owner: u32,
    /// Where the object begins in that memory, in bytes.
    pub start: u64,
    pub fast_path: FastPath,
}

impl CachedSite {
    /// Computes the entry of the site `number`, which is described by `site`, for the groups of `slot`. `extents`: by
    /// object; `homes`: see [`super::launch::PreparedLaunch::homes`]; `shadow`: the race detector, in a run with it;
    /// `watched`: whether every access must be reported to the run's observer.
    pub fn new(
        (number, site): (u32, &Site),
        slot: u32,
        extents: &[Extent],
        homes: &[Home],
        shadow: Option<&mut Shadow>,
        watched: bool,
    ) -> CachedSite {
        let alone = Home { owner: site.object, start: 0, access: BufferAccess::ReadWrite };
        let home = homes.get(site.object as usize).copied().unwrap_or(alone);
        let is_fine = site.object != NONE && !site.forbidden && breach(home.access, site.mode).is_none();
        let known = extents.get(site.object as usize).filter(|_| is_fine);
        let bytes = known.map_or(0, |e| e.bytes);
        let fast_path = match (known, shadow) {
            _ if watched => FastPath::without_cells(CheckKind::Slow),
            (_, None) => FastPath::without_cells(CheckKind::Unchecked),
            (None, Some(_)) => FastPath::without_cells(CheckKind::Slow),
            (Some(_), Some(shadow)) => {
                let part = Part { object: home.owner, start: home.start, bytes };
                shadow.fast_path(slot, number, u64::from(site.bytes), part)
            }
        };
        CachedSite {
            base: known.map_or(0, |e| e.base),
            valid_offsets: (bytes + 1).saturating_sub(u64::from(site.bytes.max(1))),
            misaligned: site.misaligned,
            remainder: u32::from(site.lead) & site.misaligned,
            owner: home.owner,
            start: home.start,
            fast_path,
        }
    }

    /// The offset of the address in the object, if the access is valid there.
    #[inline(always)]
    pub fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.valid_offsets && address & u64::from(self.misaligned) == u64::from(self.remainder))
            .then_some(offset)
    }
}
