//! A loaded program: its code in memory, and compact tables, indexed by site number, of what hooks need to know.

use std::collections::HashMap;
use std::sync::Arc;

use kassay_base::error::Result;
use kassay_model::code::NativeCode;
use kassay_model::native::abi::{self, ItemContext};
use kassay_model::native::table::{Mode, NativeTable, Space, Storage};
use kassay_suite::launch::BufferAccess;

use super::object::LoadedObject;
use super::observation::FaultKind;

/// The signature of compiled kernels; see [`kassay_model::native::abi`].
pub type Entry = unsafe extern "C" fn(*mut ItemContext, *const *const u8);

/// Stands for "no object" in place of an object number.
pub const NONE: u32 = u32::MAX;

/// An access site, as hooks read it.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The only object its pointer can come from, or [`NONE`].
    pub object: u32,
    pub bytes: u32,
    /// The bits that must be zero of the address `lead` bytes before the access.
    pub misaligned: u32,
    pub lead: u8,
    pub mode: Mode,
    pub space: Space,
    /// It writes to an object that is constant, which is always a fault.
    pub forbidden: bool,
}

impl Site {
    /// Returns whether an access at `address` is misaligned.
    pub fn is_misaligned(&self, address: u64) -> bool {
        address.wrapping_sub(self.lead.into()) & u64::from(self.misaligned) != 0
    }
}

/// Code that has been loaded and can be run.
pub struct Program {
    pub code: Arc<NativeCode>,
    pub loaded: LoadedObject,
    pub sites: Vec<Site>,
    /// By site number.
    pub barriers: Vec<Barrier>,
}

/// A barrier site, as hooks read it.
#[derive(Debug, Clone, Copy)]
pub struct Barrier {
    pub source: u32,
    pub sub_group: bool,
    pub grid: bool,
}

impl Program {
    /// Loads the code's object file and links it to the hooks, given by their names and addresses.
    ///
    /// # Errors
    /// `Internal` if the object cannot be loaded.
    pub fn new(code: &Arc<NativeCode>, hooks: &HashMap<&'static str, usize>) -> Result<Program> {
        let loaded = LoadedObject::new(&code.object, abi::ENTRY, hooks)?;
        let table = &code.table;
        let site = |site: &kassay_model::native::table::AccessSite| Site {
            object: site.object.unwrap_or(NONE),
            bytes: site.bytes,
            misaligned: site.align.max(1).next_power_of_two() - 1,
            // Vectors have at most 128 bytes.
            lead: u8::try_from(site.lead).unwrap_or(0),
            mode: site.mode,
            space: site.space,
            forbidden: writes(site.mode)
                && (site.space == Space::Constant || site.object.is_some_and(|o| is_constant(table, o))),
        };
        let sites = table.accesses.iter().map(site).collect();
        let barriers = table.barriers.iter();
        let barriers = barriers.map(|b| Barrier { source: b.source, sub_group: b.sub_group, grid: b.grid }).collect();
        Ok(Program { code: Arc::clone(code), loaded, sites, barriers })
    }

    /// The table that describes the code's sites and objects.
    pub fn table(&self) -> &NativeTable {
        &self.code.table
    }

    /// The kernel's compiled entry point.
    pub fn entry(&self) -> Entry {
        // SAFETY: the loader found this address for the entry symbol, whose signature `kassay_model::native::abi`
        // fixes.
        unsafe { std::mem::transmute::<usize, Entry>(self.loaded.entry()) }
    }
}

/// What is wrong with an access to a buffer that the host has made for such accesses only.
pub fn breach(allowed: BufferAccess, mode: Mode) -> Option<FaultKind> {
    match allowed {
        BufferAccess::ReadOnly if writes(mode) => Some(FaultKind::ReadOnlyWrite),
        BufferAccess::WriteOnly if mode != Mode::Write => Some(FaultKind::WriteOnlyRead),
        _ => None,
    }
}

/// Returns whether an access can change memory.
pub fn writes(mode: Mode) -> bool {
    matches!(mode, Mode::Write | Mode::Atomic)
}

fn is_constant(table: &NativeTable, object: u32) -> bool {
    table
        .objects
        .get(object as usize)
        .is_some_and(|o| o.space == Space::Constant || matches!(o.storage, Storage::Constant { .. }))
}
