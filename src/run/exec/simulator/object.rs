//! Loads a relocatable object file into memory and makes it executable.
//!
//! This is used instead of LLVM's JIT linker because programs are loaded by any thread at any time. The code has no
//! thread-local data, no unwinding and no constructors, so little remains to be done: sections, relocations (System V
//! ABI, AMD64 supplement, 4.4) and two kinds of stubs.

use std::collections::HashMap;

use kassay_base::error::{Error, Result};
use kassay_model::native::runtime_support;
use memmap2::MmapMut;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags, SymbolIndex, elf};

const PAGE: usize = 4096;

/// `jmp *disp32(%rip)`, padded to 8 bytes.
const STUB: [u8; 8] = [0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc];

/// An object file in memory, with all addresses resolved.
#[derive(Debug)]
pub struct LoadedObject {
    entry: usize,
    /// The constants that the code may read: address and size in bytes.
    constants: (usize, usize),
    /// The writable sections: address and initial contents.
    writable: (usize, Vec<u8>),
    _map: memmap2::MmapRaw,
}

/// Sections by the access that they need; they lie in memory in this order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SectionKind {
    Code,
    Constant,
    Writable,
}

impl LoadedObject {
    /// Loads `bytes` and finds the symbol `entry`. `hooks`: addresses by name; other names are looked up
    /// in [`runtime_support`].
    ///
    /// # Errors
    /// `Internal`: not an ELF object for this host, an undefined symbol that nothing provides, or a relocation that is
    /// unknown or out of range.
    pub fn new(bytes: &[u8], entry: &str, hooks: &HashMap<&'static str, usize>) -> Result<LoadedObject> {
        let file: ElfFile64<'_> = ElfFile64::parse(bytes)
            .map_err(|e| Error::internal(format!("the kernel's object file cannot be read: {e}")))?;
        let mut loader = Loader { file, section_addresses: HashMap::new(), externals: HashMap::new() };
        let sizes = loader.lay_out();
        let externals = loader.got_symbols(hooks)?;
        // Stubs and addresses of external symbols follow the constants: 8 bytes of each per symbol.
        let got = sizes.constants.next_multiple_of(16);
        let stubs = got + 8 * externals.len();
        let writable = (stubs + 8 * externals.len()).next_multiple_of(PAGE);
        let len = (writable + sizes.writable).next_multiple_of(PAGE).max(PAGE);
        let lacking = |e: std::io::Error| {
            Error::environment(format!("no memory for the kernel's code: {e}")).help("free some memory and try again")
        };
        let mut map = MmapMut::map_anon(len).map_err(lacking)?;
        let base = map.as_ptr() as usize;
        for (kind, address) in loader.section_addresses.values_mut() {
            // Addresses in writable sections were counted from the first of them.
            *address += base + if *kind == SectionKind::Writable { writable } else { 0 };
        }
        for (i, (symbol, address)) in externals.iter().enumerate() {
            let address = match address {
                Some(address) => *address,
                None => loader.address(*symbol)?,
            };
            map[got + 8 * i..][..8].copy_from_slice(&(address as u64).to_le_bytes());
            let stub = stubs + 8 * i;
            map[stub..stub + 8].copy_from_slice(&STUB);
            let distance = (got + 8 * i) as i64 - (stub + 6) as i64;
            map[stub + 2..stub + 6].copy_from_slice(&(distance as i32).to_le_bytes());
            loader.externals.insert(*symbol, External { address, got: base + got + 8 * i, stub: base + stub });
        }
        loader.copy_sections(&mut map, base)?;
        let entry = loader.entry(entry)?;
        let first = map[writable..].to_vec();
        let raw = memmap2::MmapRaw::from(map);
        // SAFETY: the range lies inside the mapping `raw`, which this function owns, and begins at a page boundary.
        let failed =
            unsafe { libc::mprotect(raw.as_mut_ptr().cast(), writable, libc::PROT_READ | libc::PROT_EXEC) } != 0;
        if failed {
            let e = std::io::Error::last_os_error();
            return Err(Error::environment(format!("the system refuses to make the kernel's code executable: {e}"))
                .help("allow this program to map executable memory"));
        }
        let constants = (base + sizes.code, sizes.constants - sizes.code);
        Ok(LoadedObject { entry, constants, writable: (base + writable, first), _map: raw })
    }

    /// The address of the entry's code.
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// Where the code's constants lie: address and size in bytes.
    pub fn constants(&self) -> (usize, usize) {
        self.constants
    }

    /// Restores the initial values of the code's variables. No code of this object may be running.
    pub fn reset(&self) {
        let (address, first) = &self.writable;
        if !first.is_empty() {
            // SAFETY: the range is the end of our mapping, which stays writable, and the caller guarantees that no code
            // of this object runs.
            unsafe { std::ptr::copy_nonoverlapping(first.as_ptr(), *address as *mut u8, first.len()) };
        }
    }
}

#[derive(Clone, Copy)]
struct External {
    address: usize,
    got: usize,
    stub: usize,
}

struct Loader<'a> {
    file: ElfFile64<'a>,
    /// By section: its kind and its address (an offset until `new` adds the base).
    section_addresses: HashMap<usize, (SectionKind, usize)>,
    externals: HashMap<SymbolIndex, External>,
}

/// Where code ends, where the constants after it end, and the size of the writable sections in bytes.
struct Sizes {
    code: usize,
    constants: usize,
    writable: usize,
}

impl Loader<'_> {
    fn lay_out(&mut self) -> Sizes {
        let mut ends = [0_usize; 3];
        for (index, kind) in [SectionKind::Code, SectionKind::Constant, SectionKind::Writable].into_iter().enumerate() {
            let mut at = if kind == SectionKind::Constant { ends[0] } else { 0 };
            for section in self.file.sections() {
                let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
                let flags = sh_flags as u32;
                let own = match (flags & elf::SHF_EXECINSTR != 0, flags & elf::SHF_WRITE != 0) {
                    (true, _) => SectionKind::Code,
                    (_, true) => SectionKind::Writable,
                    _ => SectionKind::Constant,
                };
                // Unwind tables are not needed.
                let wanted = flags & elf::SHF_ALLOC != 0 && section.name() != Ok(".eh_frame");
                if own != kind || !wanted {
                    continue;
                }
                at = at.next_multiple_of(usize::try_from(section.align()).unwrap_or(1).max(1));
                self.section_addresses.insert(section.index().0, (kind, at));
                at += usize::try_from(section.size()).unwrap_or(usize::MAX);
            }
            ends[index] = at;
        }
        Sizes { code: ends[0], constants: ends[1].max(ends[0]), writable: ends[2] }
    }

    /// The symbols that code may reach through the global offset table; with the address for external ones.
    fn got_symbols(&self, hooks: &HashMap<&'static str, usize>) -> Result<Vec<(SymbolIndex, Option<usize>)>> {
        let mut found = Vec::new();
        for symbol in self.file.symbols().filter(|s| s.is_undefined() && s.index().0 != 0) {
            let name = symbol.name().unwrap_or_default();
            let address = hooks.get(name).copied().or_else(|| runtime_support::address(name));
            let address = address
                .ok_or_else(|| Error::internal(format!("the kernel's code needs `{name}`, which is not defined")))?;
            found.push((symbol.index(), Some(address)));
        }
        for section in self.file.sections().filter(|s| self.section_addresses.contains_key(&s.index().0)) {
            for (_, relocation) in section.relocations() {
                if let (
                    RelocationFlags::Elf {
                        r_type: elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX,
                    },
                    RelocationTarget::Symbol(symbol),
                ) = (relocation.flags(), relocation.target())
                    && found.iter().all(|(known, _)| *known != symbol)
                {
                    found.push((symbol, None));
                }
            }
        }
        Ok(found)
    }

    /// Copies the sections to their addresses and resolves their relocations.
    fn copy_sections(&self, map: &mut [u8], base: usize) -> Result<()> {
        for section in self.file.sections() {
            let Some((_, address)) = self.section_addresses.get(&section.index().0) else { continue };
            let start = address - base;
            let data = section.data().map_err(|e| broken(&e.to_string()))?;
            map.get_mut(start..start + data.len())
                .ok_or_else(|| broken("a section lies outside"))?
                .copy_from_slice(data);
            for (offset, relocation) in section.relocations() {
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    return Err(broken("no ELF relocation"));
                };
                let RelocationTarget::Symbol(symbol) = relocation.target() else {
                    return Err(broken("a relocation without a symbol"));
                };
                let at = start + usize::try_from(offset).map_err(|_| broken("a relocation lies outside"))?;
                self.relocate(map, at, base, r_type, symbol, relocation.addend())?;
            }
        }
        Ok(())
    }

    fn relocate(
        &self,
        map: &mut [u8],
        at: usize,
        base: usize,
        kind: u32,
        symbol: SymbolIndex,
        addend: i64,
    ) -> Result<()> {
        let external = self.externals.get(&symbol);
        let place = (base + at) as i64;
        let target = match external {
            Some(external) => external.address as i64,
            None => self.address(symbol)? as i64,
        };
        let value = target.wrapping_add(addend);
        let relative = value.wrapping_sub(place);
        let mut write = |bytes: &[u8]| -> Result<()> {
            map.get_mut(at..at + bytes.len())
                .ok_or_else(|| broken("a relocation lies outside"))?
                .copy_from_slice(bytes);
            Ok(())
        };
        let far = || broken(&format!("a relocation of kind {kind} does not reach its target"));
        let word = |value: i64| i32::try_from(value).map(i32::to_le_bytes).map_err(|_| far());
        match kind {
            elf::R_X86_64_NONE => Ok(()),
            elf::R_X86_64_64 => write(&value.to_le_bytes()),
            elf::R_X86_64_PC64 => write(&relative.to_le_bytes()),
            elf::R_X86_64_32 => write(&u32::try_from(value).map_err(|_| far())?.to_le_bytes()),
            elf::R_X86_64_32S => write(&word(value)?),
            elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => match (word(relative), external) {
                (Ok(near), _) => write(&near),
                // Only calls and jumps may go through a stub; the code refers to no data in libraries.
                (Err(_), Some(e)) => write(&word(e.stub as i64 + addend - place)?),
                (Err(e), None) => Err(e),
            },
            elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => match external {
                Some(e) => write(&word(e.got as i64 + addend - place)?),
                None => Err(broken("an address table for a symbol of its own")),
            },
            other => Err(broken(&format!("a relocation of the unknown kind {other}"))),
        }
    }

    /// The address of a symbol that the object itself defines.
    fn address(&self, symbol: SymbolIndex) -> Result<usize> {
        let symbol = self.file.symbol_by_index(symbol).map_err(|e| broken(&e.to_string()))?;
        let section = symbol.section_index().ok_or_else(|| broken("a symbol without a section"))?;
        let (_, start) =
            self.section_addresses.get(&section.0).ok_or_else(|| broken("a symbol in a section that is not loaded"))?;
        Ok(start + usize::try_from(symbol.address()).unwrap_or(0))
    }

    fn entry(&self, name: &str) -> Result<usize> {
        let symbol = self.file.symbols().find(|s| s.is_definition() && s.name() == Ok(name));
        let symbol = symbol.ok_or_else(|| broken(&format!("it does not define `{name}`")))?;
        self.address(symbol.index())
    }
}

fn broken(what: &str) -> Error {
    Error::internal(format!("the kernel's object file cannot be loaded: {what}"))
}
