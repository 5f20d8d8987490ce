//! Evaluates atomic builtins on bits (OpenCL C 1.2, 6.12.11; 2.0, 6.13.11).

use kassay_ir::kernel::builtins::Operation;

use crate::program::{Kind, arithmetic, signed};

/// The value that an atomic leaves in a variable of this kind where `old` was. `operands` are those after the pointer;
/// the first one of a compare-and-exchange is the expected value.
pub fn updated(operation: Operation, kind: Kind, is_signed: bool, old: u64, operands: [u64; 2]) -> u64 {
    let [by, more] = operands;
    let width = arithmetic::width(kind);
    let is_float = matches!(kind, Kind::Float(_));
    let number = |bits: u64| arithmetic::float(bits, width);
    let is_less = |a: u64, b: u64| match (is_float, is_signed) {
        (true, _) => number(a) < number(b),
        (_, true) => signed(a, width) < signed(b, width),
        _ => a < b,
    };
    match operation {
        Operation::Add if is_float => arithmetic::float_bits(number(old) + number(by), width),
        Operation::Sub if is_float => arithmetic::float_bits(number(old) - number(by), width),
        Operation::Add => old.wrapping_add(by),
        Operation::Sub => old.wrapping_sub(by),
        Operation::Min if is_less(by, old) => by,
        Operation::Max if is_less(old, by) => by,
        Operation::And => old & by,
        Operation::Or => old | by,
        Operation::Xor => old ^ by,
        Operation::Inc => old.wrapping_add(1),
        Operation::Dec => old.wrapping_sub(1),
        Operation::Exchange | Operation::Store => by,
        Operation::CompareExchange | Operation::CompareExchangeBool if old == by => more,
        Operation::TestAndSet => 1,
        Operation::Clear => 0,
        Operation::Min
        | Operation::Max
        | Operation::CompareExchange
        | Operation::CompareExchangeBool
        | Operation::Load => old,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_compute_in_the_type_of_the_variable() {
        let int = |operation, is_signed, old: u64, by| updated(operation, Kind::Int(32), is_signed, old, [by, 9]);
        let minus_one = u64::from(u32::MAX);
        assert_eq!([int(Operation::Min, true, 3, minus_one), int(Operation::Min, false, 3, minus_one)], [minus_one, 3]);
        assert_eq!([int(Operation::Max, true, 3, minus_one), int(Operation::Max, false, 3, minus_one)], [3, minus_one]);
        assert_eq!(
            [int(Operation::CompareExchange, false, 3, 3), int(Operation::CompareExchange, false, 3, 4)],
            [9, 3]
        );
        let [one, half] = [1.0f32, 0.5].map(|x| u64::from(x.to_bits()));
        assert_eq!(updated(Operation::Sub, Kind::Float(32), false, one, [half, 0]), half);
    }
}
