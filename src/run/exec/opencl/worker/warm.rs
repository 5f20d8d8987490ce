//! Warms up a device: the driver's compiler, whose first build in a process takes several times as long as the next
//! ones, or what joint launches need beside their module.
//!
//! The worker does this after it has reported the device as open, while its parent still compiles the kernel.

use super::open_device::OpenDevice;
use crate::exec::Target;
use crate::exec::protocol::Request;

/// A module with one kernel, `kernel void w(global uint *p) { *p = 1; }`, as SPIR-V 1.0 words (SPIR-V specification
/// 1.0, section 3.32: each instruction's word count and opcode, then its operands).
#[rustfmt::skip]
const MODULE: [u32; 51] = [
    0x0723_0203, 0x0001_0000, 0, 9, 0, // header: magic, version, generator, ids below 9
    2 << 16 | 17, 4, // OpCapability Addresses
    2 << 16 | 17, 6, // OpCapability Kernel
    3 << 16 | 14, 2, 2, // OpMemoryModel Physical64 OpenCL
    4 << 16 | 15, 6, 1, 0x77, // OpEntryPoint Kernel %1 "w"
    2 << 16 | 19, 2, // %2 = OpTypeVoid
    4 << 16 | 21, 3, 32, 0, // %3 = OpTypeInt 32 0
    4 << 16 | 32, 4, 5, 3, // %4 = OpTypePointer CrossWorkgroup %3
    4 << 16 | 33, 5, 2, 4, // %5 = OpTypeFunction %2 %4
    4 << 16 | 43, 3, 6, 1, // %6 = OpConstant %3 1
    5 << 16 | 54, 2, 1, 0, 5, // %1 = OpFunction %2 None %5
    3 << 16 | 55, 4, 7, // %7 = OpFunctionParameter %4
    2 << 16 | 248, 8, // %8 = OpLabel
    5 << 16 | 62, 7, 6, 2, 4, // OpStore %7 %6 Aligned 4
    1 << 16 | 253, // OpReturn
    1 << 16 | 56, // OpFunctionEnd
];

/// What a worker does once its device is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warm {
    /// Builds a tiny module.
    Compiler,
    /// Builds what runs around joint launches, which takes a driver 0.3 s the first time.
    JointLaunches,
}

impl Warm {
    /// Returns what there is to do after this request.
    pub fn after(request: &Request) -> Option<Warm> {
        match request {
            Request::Open { target: Target::SpirV, .. } => Some(Warm::Compiler),
            Request::Open { target: Target::Ptx, joint: true, .. } => Some(Warm::JointLaunches),
            _ => None,
        }
    }

    /// Does it. Errors of the driver have no consequence: they come again where they matter.
    pub fn up(self, open: &OpenDevice) {
        match self {
            Warm::Compiler => {
                let bytes: Vec<u8> = MODULE.iter().flat_map(|word| word.to_le_bytes()).collect();
                let _ = open.build(Target::SpirV, &bytes, "w", "");
            }
            Warm::JointLaunches => {
                let _ = open.joint_kernels();
            }
        }
    }
}
