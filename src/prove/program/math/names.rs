//! The functions that builtins of OpenCL C, and the LLVM intrinsics that may stand in for them, compute. Evaluation on
//! bits and on terms read the names here, so that both mean the same function.

use kassay_ir::kernel::builtins;

/// A function of the operands alone, by the name of a builtin that computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function<'a> {
    /// That of the builtin, or `fmuladd` for the intrinsic, which need not round once.
    pub base: &'a str,
    /// Whether its first parameter is signed.
    pub is_signed: bool,
    /// Whether a flag follows the first operand, which only declares what may be poison.
    pub is_flagged: bool,
}

impl<'a> Function<'a> {
    /// Returns what a call computes; `base` is the demangled name. `None` for intrinsics that are no such functions.
    pub fn of(name: &'a str, base: &'a str) -> Option<Function<'a>> {
        if let Some(rest) = name.strip_prefix("llvm.") {
            let (base, is_signed) = intrinsic(rest)?;
            return Some(Function { base, is_signed, is_flagged: matches!(base, "abs" | "clz" | "ctz") });
        }
        let params = builtins::demangle(name).map_or("", |(_, params)| params);
        let is_signed = element(params).is_some_and(builtins::is_signed);
        Some(Function { base, is_signed, is_flagged: false })
    }
}

/// Strips the prefixes that only state a precision or an origin.
pub fn without_precision_prefix(base: &str) -> &str {
    ["native_", "half_", "fast_", "__spirv_ocl_"]
        .iter()
        .fold(base, |base, prefix| base.strip_prefix(prefix).unwrap_or(base))
}

/// Returns the scalar type of the first parameter in a mangled parameter list.
fn element(params: &str) -> Option<char> {
    let scalar = params.strip_prefix("Dv").and_then(|rest| rest.split_once('_')).map_or(params, |(_, of)| of);
    scalar.chars().next()
}

/// Returns the builtin that corresponds to an LLVM intrinsic such as `umin.i32` or `uadd.sat.v4i32`, and whether it is
/// signed.
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
        "bitreverse" => ("bit_reverse", false),
        "minnum" => ("fmin", false),
        "maxnum" => ("fmax", false),
        "roundeven" | "nearbyint" => ("rint", false),
        "fshl" | "fshr" | "bswap" | "fmuladd" | "fabs" | "copysign" | "floor" | "ceil" | "trunc" | "rint" | "round"
        | "sqrt" | "fma" | "exp" | "exp2" | "log" | "log2" | "log10" | "sin" | "cos" | "pow" => (word, false),
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
        assert!(Function::of("_Z3maxii", "max").is_some_and(|f| f.is_signed));
        assert!(Function::of("_Z3maxjj", "max").is_some_and(|f| !f.is_signed));
    }

    #[test]
    fn intrinsics_compute_what_builtins_do() {
        assert_eq!(without_precision_prefix("native_half_sin"), "sin");
        assert_eq!(intrinsic("uadd.sat.v4i32"), Some(("add_sat", false)));
        assert_eq!(intrinsic("uadd.with.overflow.i32"), None);
        let flagged = Function { base: "clz", is_signed: false, is_flagged: true };
        assert_eq!(Function::of("llvm.ctlz.i32", "llvm.ctlz.i32"), Some(flagged));
    }
}
