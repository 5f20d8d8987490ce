//! Evaluates OpenCL C builtins on bits (OpenCL C 1.2, 6.12.2 to 6.12.6; conversions 6.2.3), and the LLVM intrinsics
//! that may stand in for them. The dry run and concolic execution share this table. Functions whose precision OpenCL
//! leaves open follow the host's mathematics library.

mod conversions;
mod floats;
mod integers;

use super::{Instruction, Kind, Op, Program, Shape, arithmetic, masked, signed};
use crate::kernel::builtins;

/// The result of a builtin call, lane by lane, given the bits of its operands' lanes. `None` if the builtin is not in
/// the table, or depends on memory, ids or other work-items.
pub fn builtin(program: &Program, instruction: &Instruction, args: &[Vec<u64>], shape: Shape) -> Option<Vec<u64>> {
    let Op::Call(name, base) = &instruction.op else { return None };
    let shapes: Vec<Shape> = instruction.operands.iter().map(|o| program.shape(*o)).collect();
    let first = shapes.first()?;
    if args.len() != shapes.len() || args.iter().any(Vec::is_empty) {
        return None;
    }
    let mut call = Call { base, is_signed: false, shapes: &shapes, shape };
    if let Some(rest) = name.strip_prefix("llvm.") {
        (call.base, call.is_signed) = intrinsic(rest)?;
        // The flags in the second argument only declare what may be poison.
        let count = if matches!(call.base, "abs" | "clz" | "ctz") { 1 } else { args.len() };
        return call.lanes(&args[..count]);
    }
    let params = builtins::demangle(name).map_or("", |(_, params)| params);
    call.is_signed = element(params).is_some_and(builtins::is_signed);
    match (call.base, first.kind) {
        ("any" | "all", Kind::Int(width)) => {
            let mut set = args[0].iter().map(|lane| signed(*lane, width) < 0);
            let holds = if call.base == "any" { set.any(|s| s) } else { set.all(|s| s) };
            Some(vec![holds.into()])
        }
        (_, Kind::Float(width)) => {
            let function = without_precision_prefix(call.base);
            let numbers = |lanes: &Vec<u64>| lanes.iter().map(|bits| arithmetic::float(*bits, width)).collect();
            let found = floats::geometric(function, &args.iter().map(numbers).collect::<Vec<Vec<f64>>>());
            match found {
                Some(found) => Some(found.into_iter().map(|x| arithmetic::float_bits(x, width)).collect()),
                None => call.lanes(args),
            }
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

/// Strips the prefixes that only state a precision or an origin.
fn without_precision_prefix(base: &str) -> &str {
    ["native_", "half_", "fast_", "__spirv_ocl_"]
        .iter()
        .fold(base, |base, prefix| base.strip_prefix(prefix).unwrap_or(base))
}

/// The scalar type of the first parameter in a mangled parameter list.
fn element(params: &str) -> Option<char> {
    let scalar = params.strip_prefix("Dv").and_then(|rest| rest.split_once('_')).map_or(params, |(_, of)| of);
    scalar.chars().next()
}

/// The builtin that corresponds to an LLVM intrinsic such as `umin.i32` or `uadd.sat.v4i32`, and whether it is signed.
fn intrinsic(name: &str) -> Option<(&str, bool)> {
    let mut words = name.split('.');
    let (word, saturates) = (words.next()?, words.next() == Some("sat"));
    Some(match word {
        "smin" => ("min", true),
        "umin" => ("min", false),
        "smax" => ("max", true),
        "umax" => ("max", false),
        "sadd" if saturates => ("add_sat", true),
        "uadd" if saturates => ("add_sat", false),
        "ssub" if saturates => ("sub_sat", true),
        "usub" if saturates => ("sub_sat", false),
        "abs" => ("abs", true),
        "ctpop" => ("popcount", false),
        "ctlz" => ("clz", false),
        "cttz" => ("ctz", false),
        "fshl" => ("fshl", false),
        "fshr" => ("fshr", false),
        "bswap" => ("bswap", false),
        "bitreverse" => ("bit_reverse", false),
        "minnum" => ("fmin", false),
        "maxnum" => ("fmax", false),
        "fmuladd" => ("fma", false),
        "roundeven" | "nearbyint" => ("rint", false),
        "fabs" | "copysign" | "floor" | "ceil" | "trunc" | "rint" | "round" | "sqrt" | "fma" | "exp" | "exp2"
        | "log" | "log2" | "log10" | "sin" | "cos" | "pow" => (word, false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signedness_is_read_from_the_first_parameter() {
        assert_eq!(element("Dv4_hS_"), Some('h'));
        assert_eq!(element("ij"), Some('i'));
        assert_eq!(element(""), None);
        assert_eq!(without_precision_prefix("native_half_sin"), "sin");
        assert_eq!(intrinsic("uadd.sat.v4i32"), Some(("add_sat", false)));
        assert_eq!(intrinsic("uadd.with.overflow.i32"), None);
    }
}
