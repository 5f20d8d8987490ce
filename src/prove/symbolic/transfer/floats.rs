//! Floating-point builtins whose results OpenCL defines exactly or nearly so (OpenCL C 1.2, 6.12.2 to 6.12.6), and
//! conversions (6.2.3).

use kassay_ir::kernel::floats;
use kassay_ir::llvm::RealPredicate;

use super::{Transfer, from_bits, sort, to_bits};
use crate::program::{Kind, Shape};
use crate::solve::expression::{Operation, Rounding, Sort, Term};
use crate::solve::opcodes::compare_floats;

impl Transfer<'_> {
    fn float(&mut self, x: f64, like: Term) -> Term {
        let width = self.width(like);
        self.number(floats::bits(x, width), like)
    }

    /// Returns the sign bit.
    pub(super) fn sign_bit(&mut self, x: Term) -> Term {
        let bits = to_bits(self.terms, x);
        let zero = self.number(0, bits);
        self.terms.compare(Operation::Slt, bits, zero)
    }

    /// Returns whether a float is infinite.
    pub(super) fn is_infinite(&mut self, x: Term) -> Term {
        let size = self.make(Operation::FAbs, &[x]);
        let infinite = self.float(f64::INFINITY, x);
        self.terms.compare(Operation::FEq, size, infinite)
    }

    fn is_less(&mut self, l: Term, r: Term) -> Term {
        self.terms.compare(Operation::FLt, l, r)
    }

    /// Evaluates a floating-point builtin on one lane. `None` if the builtin is not known.
    pub(super) fn of_floats(&mut self, base: &str, args: &[Term]) -> Option<Term> {
        use Operation::*;
        Some(match (base, args) {
            ("fabs", [x]) => self.make(FAbs, &[*x]),
            ("fmin", [x, y]) => {
                let less = self.is_less(*y, *x);
                let least = self.terms.select(less, *y, *x);
                self.number_of(*x, *y, least)
            }
            ("fmax", [x, y]) => {
                let less = self.is_less(*x, *y);
                let greatest = self.terms.select(less, *y, *x);
                self.number_of(*x, *y, greatest)
            }
            ("min", [x, y]) => {
                let less = self.is_less(*y, *x);
                self.terms.select(less, *y, *x)
            }
            ("max", [x, y]) => {
                let less = self.is_less(*x, *y);
                self.terms.select(less, *y, *x)
            }
            ("clamp", [x, low, high]) => {
                let raised = self.of_floats("fmax", &[*x, *low])?;
                self.of_floats("fmin", &[raised, *high])?
            }
            ("copysign", [x, y]) => {
                let size = self.make(FAbs, &[*x]);
                let (negative, minus) = (self.sign_bit(*y), self.make(FNeg, &[size]));
                self.terms.select(negative, minus, size)
            }
            ("sign", [x]) => {
                let (zero, one, minus) = (self.float(0.0, *x), self.float(1.0, *x), self.float(-1.0, *x));
                let (positive, negative, nan) = (self.is_less(zero, *x), self.is_less(*x, zero), self.is_nan(*x));
                let rest = self.terms.select(nan, zero, *x);
                let rest = self.terms.select(negative, minus, rest);
                self.terms.select(positive, one, rest)
            }
            ("step", [edge, x]) => {
                let (zero, one, less) = (self.float(0.0, *x), self.float(1.0, *x), self.is_less(*x, *edge));
                self.terms.select(less, zero, one)
            }
            ("fdim", [x, y]) => {
                let (zero, difference) = (self.float(0.0, *x), self.make(FSub, &[*x, *y]));
                let none = self.terms.compare(FLe, *x, *y);
                self.terms.select(none, zero, difference)
            }
            ("floor", [x]) => self.make(FRound(Rounding::Down), &[*x]),
            ("ceil", [x]) => self.make(FRound(Rounding::Up), &[*x]),
            ("trunc", [x]) => self.make(FRound(Rounding::Zero), &[*x]),
            ("rint", [x]) => self.make(FRound(Rounding::Even), &[*x]),
            ("round", [x]) => self.make(FRound(Rounding::Away), &[*x]),
            ("sqrt", [x]) => self.make(FSqrt, &[*x]),
            ("fmod", [x, y]) => self.make(FRem, &[*x, *y]),
            ("divide", [x, y]) => self.make(FDiv, &[*x, *y]),
            ("recip", [x]) => {
                let one = self.float(1.0, *x);
                self.make(FDiv, &[one, *x])
            }
            ("mad" | "fmuladd", [x, y, z]) => {
                let product = self.make(FMul, &[*x, *y]);
                self.make(FAdd, &[product, *z])
            }
            // For halves, no wider machine type holds the exact sum.
            ("fma", [x, y, z]) if self.width(*x) > 16 => self.make(FFma, &[*x, *y, *z]),
            ("mix", [x, y, a]) => {
                let difference = self.make(FSub, &[*y, *x]);
                let part = self.make(FMul, &[difference, *a]);
                self.make(FAdd, &[*x, part])
            }
            ("bitselect", [x, y, mask]) => {
                let of = self.terms.sort(*x);
                let parts = [*x, *y, *mask].map(|v| to_bits(self.terms, v));
                let bits = self.integer("bitselect", false, &parts)?;
                from_bits(self.terms, bits, of)
            }
            _ => return None,
        })
    }

    /// Returns the other operand if one of them is a NaN, and `otherwise` if neither is.
    fn number_of(&mut self, x: Term, y: Term, otherwise: Term) -> Term {
        let (x_is_none, y_is_none) = (self.is_nan(x), self.is_nan(y));
        let rest = self.terms.select(y_is_none, x, otherwise);
        self.terms.select(x_is_none, y, rest)
    }

    /// Returns the sum of the products of the lanes, added up from the first lane.
    pub(super) fn dot(&mut self, left: &[Term], right: &[Term]) -> Option<Term> {
        let mut sum = None;
        for (l, r) in left.iter().zip(right) {
            let product = self.make(Operation::FMul, &[*l, *r]);
            sum = Some(match sum {
                Some(sum) => self.make(Operation::FAdd, &[sum, product]),
                None => product,
            });
        }
        sum
    }

    /// Evaluates a predicate on one or two floats. `None` if it is not known.
    pub(super) fn relation(&mut self, base: &str, args: &[Term]) -> Option<Term> {
        use Operation::{FEq, FLe, FLt, Slt};
        Some(match (base, args) {
            ("isequal", [x, y]) => self.terms.compare(FEq, *x, *y),
            ("isnotequal", [x, y]) => {
                let equal = self.terms.compare(FEq, *x, *y);
                self.terms.not(equal)
            }
            ("isless", [x, y]) | ("isgreater", [y, x]) => self.terms.compare(FLt, *x, *y),
            ("islessequal", [x, y]) | ("isgreaterequal", [y, x]) => self.terms.compare(FLe, *x, *y),
            ("islessgreater", [x, y]) => {
                let (less, greater) = (self.is_less(*x, *y), self.is_less(*y, *x));
                self.terms.or(less, greater)
            }
            ("isordered", [x, y]) => compare_floats(self.terms, RealPredicate::LLVMRealORD, *x, *y),
            ("isunordered", [x, y]) => compare_floats(self.terms, RealPredicate::LLVMRealUNO, *x, *y),
            ("isnan", [x]) => self.is_nan(*x),
            ("isinf", [x]) => self.is_infinite(*x),
            ("isfinite", [x]) => {
                let (size, infinite) = (self.make(Operation::FAbs, &[*x]), self.float(f64::INFINITY, *x));
                self.is_less(size, infinite)
            }
            ("isnormal", [x]) => {
                let least = match self.width(*x) {
                    16 => 2f64.powi(-14),
                    32 => f64::from(f32::MIN_POSITIVE),
                    _ => f64::MIN_POSITIVE,
                };
                let (size, infinite, least) =
                    (self.make(Operation::FAbs, &[*x]), self.float(f64::INFINITY, *x), self.float(least, *x));
                let (below, above) = (self.is_less(size, infinite), self.terms.compare(FLe, least, size));
                self.terms.and(below, above)
            }
            ("signbit", [x]) => {
                let bits = to_bits(self.terms, *x);
                let zero = self.number(0, bits);
                self.terms.compare(Slt, bits, zero)
            }
            _ => return None,
        })
    }

    /// Evaluates `convert_T`, `convert_T_sat`, `convert_T_rtz` and so on for one lane.
    pub(super) fn converted(&mut self, base: &str, was_signed: bool, x: Term, from: Shape, to: Shape) -> Option<Term> {
        let mut words = base.split('_').skip(1);
        let is_signed = !words.next()?.starts_with('u');
        let (mut saturates, mut rounding) = (false, None);
        for word in words {
            match word {
                "sat" => saturates = true,
                "rte" => rounding = Some(Rounding::Even),
                "rtz" => rounding = Some(Rounding::Zero),
                "rtp" => rounding = Some(Rounding::Up),
                "rtn" => rounding = Some(Rounding::Down),
                _ => return None,
            }
        }
        let into = sort(to.kind);
        Some(match (from.kind, to.kind) {
            (Kind::Int(_), Kind::Int(_)) if saturates => self.narrowed(x, was_signed, is_signed, into),
            (Kind::Int(_), Kind::Int(_)) => self.resized(x, into, was_signed),
            (Kind::Float(_), Kind::Int(_)) => {
                let mode = rounding.unwrap_or(Rounding::Zero);
                let whole = if mode == Rounding::Zero { x } else { self.make(Operation::FRound(mode), &[x]) };
                self.terms.apply(if is_signed { Operation::FToSI } else { Operation::FToUI }, vec![whole], into)
            }
            (Kind::Int(_), Kind::Float(_)) if matches!(rounding, None | Some(Rounding::Even)) => {
                self.terms.apply(if was_signed { Operation::SIToF } else { Operation::UIToF }, vec![x], into)
            }
            (Kind::Float(was), Kind::Float(is)) if is >= was || matches!(rounding, None | Some(Rounding::Even)) => {
                self.terms.apply(Operation::FToF, vec![x], into)
            }
            _ => return None,
        })
    }

    /// Returns a truth value in the form of relational builtins: 1 for scalars, all ones for vectors.
    pub(super) fn answered(&mut self, truth: Term, to: Shape) -> Term {
        let operation = if to.lanes == 0 { Operation::ZExt } else { Operation::SExt };
        let into = sort(to.kind);
        if into == Sort::Bits(1) { truth } else { self.terms.apply(operation, vec![truth], into) }
    }
}
