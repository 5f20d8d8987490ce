//! Evaluates OpenCL C builtins on bits (OpenCL C 1.2, 6.12.2 to 6.12.6; conversions 6.2.3), and the LLVM intrinsics
//! that may stand in for them. The dry run and concolic execution share this table. Functions whose precision OpenCL
//! leaves open follow the host's mathematics library.

pub mod atomics;
mod conversions;
mod floats;
mod integers;
pub mod names;

use self::names::{Function, without_precision_prefix};
use super::{Instruction, Kind, Op, Program, Shape, arithmetic, masked, signed};

/// The result of a builtin call, lane by lane, given the bits of its operands' lanes. `None` if the builtin is not in
/// the table, or depends on memory, ids or other work-items.
pub fn builtin(program: &Program, instruction: &Instruction, args: &[Vec<u64>], shape: Shape) -> Option<Vec<u64>> {
    let Op::Call(name, base) = &instruction.op else { return None };
    let shapes: Vec<Shape> = instruction.operands.iter().map(|o| program.shape(*o)).collect();
    let first = shapes.first()?;
    if args.len() != shapes.len() || args.iter().any(Vec::is_empty) {
        return None;
    }
    let Function { base, is_signed, is_flagged } = Function::of(name, base)?;
    let args = if is_flagged { &args[..1] } else { args };
    let call = Call { base, is_signed, shapes: &shapes, shape };
    match (base, first.kind) {
        ("any" | "all", Kind::Int(width)) => {
            let mut set = args[0].iter().map(|lane| signed(*lane, width) < 0);
            let holds = if base == "any" { set.any(|s| s) } else { set.all(|s| s) };
            Some(vec![holds.into()])
        }
        (_, Kind::Float(width)) if floats::is_geometric(without_precision_prefix(base)) => {
            let numbers = |lanes: &Vec<u64>| lanes.iter().map(|bits| arithmetic::float(*bits, width)).collect();
            let args: Vec<Vec<f64>> = args.iter().map(numbers).collect();
            let found = floats::geometric(without_precision_prefix(base), &args)?;
            Some(found.into_iter().map(|x| arithmetic::float_bits(x, width)).collect())
        }
        _ => call.lanes(args),
    }
}

/// A call of a builtin.
struct Call<'a> {
    base: &'a str,
    /// Whether its first parameter is signed.
    is_signed: bool,
    shapes: &'a [Shape],
    /// The type of the result.
    shape: Shape,
}

impl Call<'_> {
    /// Evaluates lane by lane; a scalar operand applies to every lane.
    fn lanes(&self, args: &[Vec<u64>]) -> Option<Vec<u64>> {
        let lane = |i: usize| {
            let lane_bits = |lanes: &Vec<u64>| if lanes.len() == 1 { lanes.first() } else { lanes.get(i) }.copied();
            self.lane(&args.iter().map(lane_bits).collect::<Option<Vec<u64>>>()?)
        };
        (0..self.shape.lanes.max(1) as usize).map(lane).collect()
    }

    fn lane(&self, args: &[u64]) -> Option<u64> {
        let is_vector = self.shape.lanes > 0;
        if self.base.starts_with("convert_") {
            return conversions::converted(self.base, self.is_signed, args[0], self.shapes[0].kind, self.shape.kind);
        }
        match (self.base, args) {
            ("select", [a, b, c]) => {
                let width = arithmetic::width(self.shapes[2].kind);
                let second = if is_vector { signed(*c, width) < 0 } else { masked(*c, width) != 0 };
                return Some(if second { *b } else { *a });
            }
            ("bitselect", [a, b, c]) => return Some((a & !c) | (b & c)),
            _ => {}
        }
        match self.shapes[0].kind {
            Kind::Int(width @ 1..=64) => {
                let Kind::Int(to) = self.shape.kind else { return None };
                integers::integer(self.base, width, self.is_signed, args, to)
            }
            Kind::Float(width) => self.float_lane(width, args),
            _ => None,
        }
    }

    fn float_lane(&self, width: u32, args: &[u64]) -> Option<u64> {
        let number = |(bits, shape): (&u64, &Shape)| match shape.kind {
            Kind::Float(width) => arithmetic::float(*bits, width),
            // Exponents, which are signed.
            #[expect(clippy::cast_precision_loss, reason = "exponents and roots are small")]
            kind => signed(*bits, arithmetic::width(kind)) as f64,
        };
        let numbers: Vec<f64> = args.iter().zip(self.shapes).map(number).collect();
        if let Some(holds) = floats::relation(self.base, &numbers, width) {
            // For vectors, true sets all bits of a lane.
            let truth = if self.shape.lanes > 0 { u64::MAX } else { 1 };
            return Some(masked(if holds { truth } else { 0 }, arithmetic::width(self.shape.kind)));
        }
        match (without_precision_prefix(self.base), self.shape.kind) {
            ("ilogb", Kind::Int(to)) => Some(masked(floats::exponent(numbers[0]).cast_unsigned().into(), to)),
            (base, Kind::Float(to)) if to == width => floats::float(base, width, args, &numbers),
            _ => None,
        }
    }
}
