//! A kernel's parameters, as its driver tells them.

use std::ffi::c_void;

use opencl_sys::{
    CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME,
    CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_NUM_ARGS, cl_kernel,
};
use serde::Serialize;

use super::{Driver, call, text};

/// What `clGetKernelArgInfo` tells.
pub struct Signature {
    /// `None` if the driver does not tell (some do so only with `-cl-kernel-arg-info`).
    pub parameters: Option<Vec<Parameter>>,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, Serialize)]
pub struct Parameter {
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub address: Address,
    pub access: Access,
    pub is_const: bool,
    pub is_pipe: bool,
}

/// An address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    Global,
    Local,
    Constant,
    Private,
}

/// How an image may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
    None,
}

impl Parameter {
    /// Whether the kernel may write what the argument points to.
    pub fn may_be_written(&self) -> bool {
        !self.is_const && self.address != Address::Constant && self.access != Access::ReadOnly
    }
}

impl Signature {
    /// Asks the driver for a kernel's parameters.
    ///
    /// # Safety
    /// The kernel must be one of the driver's.
    pub unsafe fn of(driver: &Driver, kernel: cl_kernel) -> Signature {
        let mut count = 0_u32;
        let status = call!(
            driver,
            clGetKernelInfo(
                kernel,
                CL_KERNEL_NUM_ARGS,
                size_of::<u32>(),
                (&raw mut count).cast(),
                std::ptr::null_mut()
            )
        );
        let count = if status == 0 { count } else { return Signature { parameters: None } };
        Signature { parameters: (0..count).map(|index| parameter(driver, kernel, index)).collect() }
    }
}

unsafe fn parameter(driver: &Driver, kernel: cl_kernel, index: u32) -> Option<Parameter> {
    let number = |what: u32| {
        let mut value = 0_u64;
        let mut size = 0_usize;
        let status = call!(
            driver,
            clGetKernelArgInfo(kernel, index, what, size_of::<u64>(), (&raw mut value).cast::<c_void>(), &mut size)
        );
        // Two of the numbers have four bytes.
        (status == 0).then(|| {
            if size == 4 {
                u64::from(value.to_ne_bytes().first_chunk().map_or(0, |b| u32::from_ne_bytes(*b)))
            } else {
                value
            }
        })
    };
    let string = |what: u32| {
        text(|size, value, size_ret| call!(driver, clGetKernelArgInfo(kernel, index, what, size, value, size_ret)))
    };
    let address = match number(CL_KERNEL_ARG_ADDRESS_QUALIFIER)? {
        0x119B => Address::Global,
        0x119C => Address::Local,
        0x119D => Address::Constant,
        _ => Address::Private,
    };
    let access = match number(CL_KERNEL_ARG_ACCESS_QUALIFIER)? {
        0x11A0 => Access::ReadOnly,
        0x11A1 => Access::WriteOnly,
        0x11A2 => Access::ReadWrite,
        _ => Access::None,
    };
    let qualifiers = number(CL_KERNEL_ARG_TYPE_QUALIFIER)?;
    Some(Parameter {
        name: string(CL_KERNEL_ARG_NAME).unwrap_or_default(),
        type_name: string(CL_KERNEL_ARG_TYPE_NAME).unwrap_or_default(),
        address,
        access,
        is_const: qualifiers & 1 != 0,
        is_pipe: qualifiers & 8 != 0,
    })
}
