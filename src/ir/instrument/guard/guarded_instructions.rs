//! Finds the instructions to guard; reads the kernel before anything changes.

use super::builtin_accesses::{self, Reach};
use super::pointers::{Address, Object, Objects};
use crate::llvm::{Function, Inst, Opcode, Value};

/// An instruction with memory accesses that are not proven to be in bounds.
pub struct Access<'m> {
    pub inst: Inst<'m>,
    pub ranges: Vec<Range<'m>>,
    /// For asynchronous copies: the operand with the number of elements. All items have to take part in the copy, so
    /// one that is out of bounds is executed with no elements.
    pub count: Option<u32>,
}

/// A range of memory that is accessed.
pub struct Range<'m> {
    pub address: Address<'m>,
    pub length: Length<'m>,
}

/// The length of a range.
pub enum Length<'m> {
    /// A number of bytes.
    Fixed(u64),
    /// Third field: number of bytes. They start at the first field (a value) times the second (a constant), in bytes
    /// from the address.
    At(Value<'m>, u64, u64),
    /// `count` elements of `size` bytes; the stride is in elements.
    Elements { count: Value<'m>, stride: Option<Value<'m>>, size: u64 },
}

/// A division whose divisor may be zero, or which may overflow.
pub struct Division<'m> {
    pub inst: Inst<'m>,
    pub signed: bool,
}

/// Finds the accesses that are not proven to be in bounds.
pub fn accesses<'m>(kernel: Function<'m>, objects: &Objects<'m>) -> Vec<Access<'m>> {
    let unproven = |mut access: Access<'m>| {
        access.ranges.retain(|r| !r.is_within());
        (!access.ranges.is_empty()).then_some(access)
    };
    kernel.instructions().into_iter().filter_map(|i| access(i, objects)).filter_map(unproven).collect()
}

fn access<'m>(inst: Inst<'m>, objects: &Objects<'m>) -> Option<Access<'m>> {
    let operands = inst.operands();
    let at_pointer = |value: Value<'m>, pointer: Value<'m>| {
        let size = objects.stored_size(value.ty())?;
        let range = Range { address: objects.trace(pointer)?, length: Length::Fixed(size) };
        Some(Access { inst, ranges: vec![range], count: None })
    };
    match inst.opcode() {
        Opcode::LLVMLoad => at_pointer(inst.value(), operands[0]),
        Opcode::LLVMStore => at_pointer(operands[0], operands[1]),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => at_pointer(operands[1], operands[0]),
        Opcode::LLVMCall => {
            let callee = inst.callee()?;
            let moved = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().position(|p| callee.starts_with(p));
            match moved {
                Some(which) => {
                    let pointers = if which == 2 { &operands[..1] } else { &operands[..2] };
                    let ranges = pointers
                        .iter()
                        .filter_map(|p| Some(Range { address: objects.trace(*p)?, length: bytes(operands[2]) }));
                    Some(Access { inst, ranges: ranges.collect(), count: None })
                }
                None => builtin(inst, &callee, &operands, objects),
            }
        }
        _ => None,
    }
}

fn bytes(count: Value<'_>) -> Length<'_> {
    count.as_u64().map_or(Length::Elements { count, stride: None, size: 1 }, Length::Fixed)
}

fn builtin<'m>(inst: Inst<'m>, callee: &str, operands: &[Value<'m>], objects: &Objects<'m>) -> Option<Access<'m>> {
    let mut count = None;
    let mut ranges = Vec::new();
    // The callee is the last operand.
    let arguments = &operands[..operands.len() - 1];
    for parameter in builtin_accesses::accesses_with(callee, arguments) {
        let Some(pointer) = arguments.get(parameter.index as usize) else { continue };
        let length = match parameter.reach {
            Reach::Bytes(Some(size)) => Length::Fixed(size),
            Reach::Bytes(None) => Length::Fixed(objects.stored_size(inst.ty()).unwrap_or(1)),
            Reach::Indexed { offset, step, size } => Length::At(*arguments.get(offset as usize)?, step, size),
            Reach::Elements { size, strided } => {
                count = Some(2);
                let stride = if strided { arguments.get(3).copied() } else { None };
                Length::Elements { count: *arguments.get(2)?, stride, size }
            }
        };
        if let Some(address) = objects.trace(*pointer) {
            ranges.push(Range { address, length });
        }
    }
    Some(Access { inst, ranges, count })
}

impl Range<'_> {
    /// Returns whether the range is provably in bounds: at a constant distance in a variable.
    fn is_within(&self) -> bool {
        let [Object::Variable(_, extent)] = self.address.objects[..] else { return false };
        let Some(distance) = self.address.distance.as_ref().filter(|d| d.terms.is_empty()) else { return false };
        let Length::Fixed(size) = self.length else { return false };
        u64::try_from(distance.constant).is_ok_and(|from| from.checked_add(size).is_some_and(|end| end <= extent))
    }
}

/// Finds the integer divisions that may be undefined.
pub fn divisions(kernel: Function<'_>) -> Vec<Division<'_>> {
    let found = kernel.instructions().into_iter().filter_map(|inst| {
        let signed = match inst.opcode() {
            Opcode::LLVMSDiv | Opcode::LLVMSRem => true,
            Opcode::LLVMUDiv | Opcode::LLVMURem => false,
            _ => return None,
        };
        (!is_harmless(inst.operand(1), signed)).then_some(Division { inst, signed })
    });
    found.collect()
}

/// Returns whether dividing by this value is always defined: it is a constant with no lane equal to zero or
/// (if signed) −1.
fn is_harmless(divisor: Value<'_>, signed: bool) -> bool {
    let number = |value: Value<'_>| value.as_u64().is_some_and(|n| n != 0) && !(signed && value.as_i64() == Some(-1));
    match divisor.ty().lanes() {
        Some(lanes) => divisor.is_constant() && (0..lanes).all(|lane| divisor.element(lane).is_some_and(number)),
        None => number(divisor),
    }
}
