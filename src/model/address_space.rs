//! Address spaces of SPIR, as LLVM IR numbers them.

/// An OpenCL address space (OpenCL C 1.2, section 5.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum AddressSpace {
    /// `__private`: of one work-item.
    Private,
    /// `__global`: of all work-items.
    Global,
    /// `__constant`: of all work-items, and only read.
    Constant,
    /// `__local`: of one work-group.
    Local,
    /// Any of the above but `__constant` (OpenCL C 2.0, section 6.5.5).
    Generic,
}

impl AddressSpace {
    const ALL: [AddressSpace; 5] = [
        AddressSpace::Private,
        AddressSpace::Global,
        AddressSpace::Constant,
        AddressSpace::Local,
        AddressSpace::Generic,
    ];

    /// Returns the address space of that number in SPIR's IR.
    pub fn of_number(number: u32) -> Option<AddressSpace> {
        AddressSpace::ALL.get(number as usize).copied()
    }

    /// Returns its number in SPIR's IR.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Returns its spelling in results.
    pub fn name(self) -> &'static str {
        match self {
            AddressSpace::Private => "private",
            AddressSpace::Global => "global",
            AddressSpace::Constant => "constant",
            AddressSpace::Local => "local",
            AddressSpace::Generic => "generic",
        }
    }
}
