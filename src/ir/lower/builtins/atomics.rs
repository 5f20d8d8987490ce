//! Atomics of OpenCL C 1.x (6.12.11) and the C11 ones (OpenCL C 3.0, 6.15.12) as SPIR-V's atomic instructions.
//!
//! The backend knows some of them and leaves the others as imports of mangled names, which only some drivers have.

use super::barriers::{order_of, scope, scope_of, semantics};
use super::call::{Call, Replacement, mangled_pointer};
use super::pointers::element_type;
use crate::kernel::builtins::{self, Operation};
use crate::llvm::{IntPredicate, Type, Value};

/// An atomic access to an object of a type.
struct Access<'c, 'a, 'm> {
    call: &'c Call<'a, 'm>,
    pointer: Value<'m>,
    scope: u32,
    /// Memory semantics; of a compare-exchange, those where it succeeds and those where it fails.
    orders: Vec<u32>,
    /// The object's type, and its name as it is mangled.
    ty: Type<'m>,
    lane: String,
}

pub(super) fn atomic<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let object = call.types.first()?.pointee()?;
    let (_, lane) = object.lanes()?;
    let (&pointer, rest) = call.args.split_first()?;
    if call.name == "atomic_init" {
        call.builder.store(*rest.first()?, pointer);
        return Some(Replacement::Built);
    }
    let operation = builtins::operation(call.name)?;
    let (scope, orders) = scope_and_orders(call, operation);
    let ty = element_type(call.type_of(), object)?;
    let access = Access { call, pointer, scope, orders, ty, lane: lane.to_owned() };
    match operation {
        Operation::Load | Operation::Store | Operation::Exchange if ty.is_floating_point() => {
            access.moved_as_bits(operation, rest)
        }
        _ => access.lowered(operation, rest),
    }
}

/// Those of the first atomics are relaxed, and reach all of the device (OpenCL 3.0, 3.3.6.2). The others are
/// sequentially consistent where they do not say an order.
fn scope_and_orders(call: &Call<'_, '_>, operation: Operation) -> (u32, Vec<u32>) {
    let both = |order| vec![order; 2];
    if builtins::is_relaxed(call.name) {
        return (scope::DEVICE, both(semantics::RELAXED));
    }
    let Some(positions) = builtins::memory_orders(call.name) else {
        return (scope::DEVICE, both(semantics::SEQUENTIALLY_CONSISTENT));
    };
    let order = |position: &usize| call.args.get(*position).map(|order| order_of(*order));
    let mut orders: Vec<u32> = positions.orders.iter().filter_map(order).collect();
    if operation == Operation::CompareExchangeBool && orders.len() == 2 {
        // What fails releases nothing.
        orders[1] = match orders[1] {
            semantics::RELEASE => semantics::RELAXED,
            semantics::ACQUIRE_RELEASE => semantics::ACQUIRE,
            other => other,
        };
    }
    (call.args.get(positions.scope).map_or(scope::DEVICE, |scope| scope_of(*scope)), orders)
}

impl<'m> Access<'_, '_, 'm> {
    /// Moves a float as the integer of its bits: drivers load floats by adding 0, which makes 0 of -0 in memory, or not
    /// at all.
    fn moved_as_bits(self, operation: Operation, operands: &[Value<'m>]) -> Option<Replacement<'m>> {
        let builder = self.call.builder;
        let bits = self.ty.bits()?;
        let lane = match bits {
            16 => "t",
            32 => "j",
            64 => "m",
            _ => return None,
        };
        let integer = self.call.type_of().int(bits as u32);
        let operands: Vec<Value<'m>> = operands
            .iter()
            .take(1)
            .map(|value| match value.ty() == self.ty {
                true => builder.bit_cast(*value, integer, ""),
                false => *value,
            })
            .collect();
        let ty = self.ty;
        match (Access { ty: integer, lane: lane.to_owned(), ..self }).lowered(operation, &operands)? {
            Replacement::Value(value) => Some(Replacement::Value(builder.bit_cast(value, ty, ""))),
            built => Some(built),
        }
    }

    fn lowered(&self, operation: Operation, operands: &[Value<'m>]) -> Option<Replacement<'m>> {
        use Operation::*;
        let builder = self.call.builder;
        let value = match (operation, operands) {
            (Load, _) => self.instruction("AtomicLoad", self.ty, &[], "ii"),
            (Store, [value, ..]) => return Some(self.store(*value)),
            (Clear, _) => return Some(self.store(self.ty.null())),
            (TestAndSet, _) => {
                let before = self.modify("AtomicExchange", self.ty.int(1));
                let was_set = builder.icmp(IntPredicate::LLVMIntNE, before, self.ty.null(), "");
                builder.zext_or_bit_cast(was_set, self.call.result, "")
            }
            (CompareExchange, [expected, new, ..]) => self.compare_exchange(*new, *expected),
            (CompareExchangeBool, [expected, new, ..]) => self.exchange_if_expected(*expected, *new),
            (Inc, _) => self.modify("AtomicIAdd", self.ty.int(1)),
            (Dec, _) => self.modify("AtomicISub", self.ty.int(1)),
            (Sub, [value, ..]) if self.ty.is_floating_point() => self.modify("AtomicFAddEXT", builder.fneg(*value, "")),
            (_, [value, ..]) => self.modify(self.modification(operation)?, *value),
            _ => return None,
        };
        Some(Replacement::Value(value))
    }

    /// The instruction that modifies an object of this type.
    fn modification(&self, operation: Operation) -> Option<&'static str> {
        use Operation::*;
        let is_float = self.ty.is_floating_point();
        let is_signed = self.call.points_to_signed(0).unwrap_or(false);
        Some(match (operation, is_float, is_signed) {
            (Add, true, _) => "AtomicFAddEXT",
            (Min, true, _) => "AtomicFMinEXT",
            (Max, true, _) => "AtomicFMaxEXT",
            (Exchange, _, _) => "AtomicExchange",
            (_, true, _) => return None,
            (Add, ..) => "AtomicIAdd",
            (Sub, ..) => "AtomicISub",
            (Min, _, true) => "AtomicSMin",
            (Min, _, false) => "AtomicUMin",
            (Max, _, true) => "AtomicSMax",
            (Max, _, false) => "AtomicUMax",
            (And, ..) => "AtomicAnd",
            (Or, ..) => "AtomicOr",
            (Xor, ..) => "AtomicXor",
            _ => return None,
        })
    }

    /// Builds an instruction whose first operands are the pointer, the scope and the order; `parameters` are the types
    /// of those after the pointer.
    fn instruction(&self, name: &str, result: Type<'m>, operands: &[Value<'m>], parameters: &str) -> Value<'m> {
        let mut args = vec![self.pointer, self.call.word(self.scope), self.call.word(self.orders[0])];
        args.extend(operands);
        let parameters = format!("{}{parameters}", mangled_pointer(self.pointer, &self.lane));
        self.call.spirv(name, result, &args, &parameters).value()
    }

    fn modify(&self, name: &str, value: Value<'m>) -> Value<'m> {
        self.instruction(name, self.ty, &[value], &format!("ii{}", self.lane))
    }

    fn store(&self, value: Value<'m>) -> Replacement<'m> {
        self.instruction("AtomicStore", self.call.type_of().void(), &[value], &format!("ii{}", self.lane));
        Replacement::Built
    }

    /// Builds OpAtomicCompareExchange, which takes integers only, and returns what was in memory.
    fn compare_exchange(&self, new: Value<'m>, expected: Value<'m>) -> Value<'m> {
        let lane = if self.ty.bits() == Some(64) { "l" } else { "i" };
        let args = [
            self.pointer,
            self.call.word(self.scope),
            self.call.word(self.orders[0]),
            self.call.word(*self.orders.last().unwrap_or(&semantics::RELAXED)),
            new,
            expected,
        ];
        let parameters = format!("{}iii{lane}{lane}", mangled_pointer(self.pointer, lane));
        self.call.spirv("AtomicCompareExchange", new.ty(), &args, &parameters).value()
    }

    /// `atomic_compare_exchange_*`: what was in memory goes where `expected` points, and the result says whether it was
    /// that.
    fn exchange_if_expected(&self, expected: Value<'m>, new: Value<'m>) -> Value<'m> {
        let builder = self.call.builder;
        let bits = self.call.type_of().int(self.ty.bits().unwrap_or(32) as u32);
        // A float is accessed as one: LLVM's back end gives memory a single type, and what is loaded that of the
        // memory.
        let wanted = builder.bit_cast(builder.load(self.ty, expected, ""), bits, "");
        let found = self.compare_exchange(builder.bit_cast(new, bits, ""), wanted);
        builder.store(builder.bit_cast(found, self.ty, ""), expected);
        let is_equal = builder.icmp(IntPredicate::LLVMIntEQ, found, wanted, "");
        builder.zext_or_bit_cast(is_equal, self.call.result, "")
    }
}
