//! Exact semantics of integer builtins (OpenCL C 1.2, 6.12.3).

use super::Transfer;
use crate::solve::expression::{Operation, Sort, Term};

impl Transfer<'_> {
    fn less(&mut self, is_signed: bool, l: Term, r: Term) -> Term {
        self.terms.compare(if is_signed { Operation::Slt } else { Operation::Ult }, l, r)
    }

    /// Returns the smaller operand.
    pub(super) fn least(&mut self, is_signed: bool, l: Term, r: Term) -> Term {
        let second = self.less(is_signed, r, l);
        self.terms.select(second, r, l)
    }

    /// Returns the larger operand.
    pub(super) fn greatest(&mut self, is_signed: bool, l: Term, r: Term) -> Term {
        let second = self.less(is_signed, l, r);
        self.terms.select(second, r, l)
    }

    /// Returns the least and the greatest value of the type.
    fn ends(&mut self, is_signed: bool, like: Term) -> (Term, Term) {
        let width = self.width(like);
        let least = if is_signed { 1u64 << (width - 1) } else { 0 };
        let most = if is_signed { least.wrapping_sub(1) } else { u64::MAX };
        (self.number(least, like), self.number(most, like))
    }

    fn is_negative(&mut self, x: Term) -> Term {
        let zero = self.number(0, x);
        self.terms.compare(Operation::Slt, x, zero)
    }

    /// Evaluates an integer builtin on one lane. `None` if the builtin is not known.
    pub(super) fn integer(&mut self, base: &str, is_signed: bool, args: &[Term]) -> Option<Term> {
        use Operation::*;
        Some(match (base, args) {
            ("min", [x, y]) => self.least(is_signed, *x, *y),
            ("max", [x, y]) => self.greatest(is_signed, *x, *y),
            ("clamp", [x, low, high]) => {
                let raised = self.greatest(is_signed, *x, *low);
                self.least(is_signed, raised, *high)
            }
            ("abs", [x]) if !is_signed => *x,
            ("abs", [x]) => {
                let zero = self.number(0, *x);
                let (negative, minus) = (self.is_negative(*x), self.make(Sub, &[zero, *x]));
                self.terms.select(negative, minus, *x)
            }
            ("abs_diff", [x, y]) => {
                let less = self.less(is_signed, *x, *y);
                let (up, down) = (self.make(Sub, &[*y, *x]), self.make(Sub, &[*x, *y]));
                self.terms.select(less, up, down)
            }
            ("add_sat", [x, y]) => self.saturating_sum(is_signed, *x, *y),
            ("sub_sat", [x, y]) => self.saturating_difference(is_signed, *x, *y),
            ("hadd", [x, y]) => {
                let (both, half) = (self.make(And, &[*x, *y]), self.half_of_difference(is_signed, *x, *y));
                self.make(Add, &[both, half])
            }
            ("rhadd", [x, y]) => {
                let (any, half) = (self.make(Or, &[*x, *y]), self.half_of_difference(is_signed, *x, *y));
                self.make(Sub, &[any, half])
            }
            ("mul24", [x, y]) => self.make(Mul, &[*x, *y]),
            ("mad24", [x, y, z]) => {
                let product = self.make(Mul, &[*x, *y]);
                self.make(Add, &[product, *z])
            }
            ("mul_hi", [x, y]) => self.high_product(is_signed, *x, *y),
            ("mad_hi", [x, y, z]) => {
                let product = self.high_product(is_signed, *x, *y);
                self.make(Add, &[product, *z])
            }
            ("mad_sat", [x, y, z]) => return self.saturating_product(is_signed, *x, *y, *z),
            ("rotate", [x, by]) => {
                let by = self.modulo_width(*x, *by);
                let width = self.width(*x);
                let width = self.number(width.into(), *x);
                let rest = self.make(Sub, &[width, by]);
                let rest = self.modulo_width(*x, rest);
                let (up, down) = (self.make(Shl, &[*x, by]), self.make(LShr, &[*x, rest]));
                self.make(Or, &[up, down])
            }
            ("popcount", [x]) => {
                let mut count = self.number(0, *x);
                for i in 0..self.width(*x) {
                    let bit = self.terms.apply(Extract(i), vec![*x], Sort::Bits(1));
                    let bit = self.resized(bit, self.terms.sort(*x), false);
                    count = self.make(Add, &[count, bit]);
                }
                count
            }
            ("clz", [x]) => self.zeros(*x, true),
            ("ctz", [x]) => self.zeros(*x, false),
            ("upsample", [high, low]) => {
                let width = self.width(*high) + self.width(*low);
                if width > 64 {
                    return None;
                }
                self.terms.apply(Concat, vec![*high, *low], Sort::Bits(width))
            }
            ("bitselect", [x, y, mask]) => {
                let changed = self.make(Xor, &[*x, *y]);
                let chosen = self.make(And, &[changed, *mask]);
                self.make(Xor, &[*x, chosen])
            }
            _ => return None,
        })
    }

    fn half_of_difference(&mut self, is_signed: bool, x: Term, y: Term) -> Term {
        let differs = self.make(Operation::Xor, &[x, y]);
        let one = self.number(1, x);
        self.make(if is_signed { Operation::AShr } else { Operation::LShr }, &[differs, one])
    }

    fn saturating_sum(&mut self, is_signed: bool, x: Term, y: Term) -> Term {
        use Operation::*;
        let sum = self.make(Add, &[x, y]);
        let (least, most) = self.ends(is_signed, x);
        if !is_signed {
            let wraps = self.terms.compare(Ult, sum, x);
            return self.terms.select(wraps, most, sum);
        }
        // The sum wraps if the sign of both operands differs from its own.
        let (from_x, from_y) = (self.make(Xor, &[x, sum]), self.make(Xor, &[y, sum]));
        let wraps = self.make(And, &[from_x, from_y]);
        self.saturated(wraps, x, least, most, sum)
    }

    fn saturating_difference(&mut self, is_signed: bool, x: Term, y: Term) -> Term {
        use Operation::*;
        let difference = self.make(Sub, &[x, y]);
        let (least, most) = self.ends(is_signed, x);
        if !is_signed {
            let wraps = self.terms.compare(Ult, x, y);
            return self.terms.select(wraps, least, difference);
        }
        let (signs, changed) = (self.make(Xor, &[x, y]), self.make(Xor, &[x, difference]));
        let wraps = self.make(And, &[signs, changed]);
        self.saturated(wraps, x, least, most, difference)
    }

    /// Returns the limit on the side of `x` if `wraps` is negative, else `otherwise`.
    fn saturated(&mut self, wraps: Term, x: Term, least: Term, most: Term, otherwise: Term) -> Term {
        let (wraps, negative) = (self.is_negative(wraps), self.is_negative(x));
        let end = self.terms.select(negative, least, most);
        self.terms.select(wraps, end, otherwise)
    }

    /// Returns the upper half of the product.
    fn high_product(&mut self, is_signed: bool, x: Term, y: Term) -> Term {
        use Operation::*;
        let width = self.width(x);
        if width <= 32 {
            let wide = Sort::Bits(2 * width);
            let (x, y) = (self.resized(x, wide, is_signed), self.resized(y, wide, is_signed));
            let product = self.make(Mul, &[x, y]);
            return self.terms.apply(Extract(width), vec![product], Sort::Bits(width));
        }
        // Computed in halves, because no term is wider than 64 bits.
        let low = self.number(u32::MAX.into(), x);
        let half = self.number(32, x);
        let parts = |t: &mut Self, v: Term| (t.make(And, &[v, low]), t.make(LShr, &[v, half]));
        let ((x0, x1), (y0, y1)) = (parts(self, x), parts(self, y));
        let [low_low, high_low, low_high, high_high] =
            [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|(a, b)| self.make(Mul, &[a, b]));
        let carried = self.make(LShr, &[low_low, half]);
        let middle = self.make(Add, &[high_low, carried]);
        let (middle_low, middle_high) = parts(self, middle);
        let second = self.make(Add, &[low_high, middle_low]);
        let second = self.make(LShr, &[second, half]);
        let high = self.make(Add, &[high_high, middle_high]);
        let mut high = self.make(Add, &[high, second]);
        if is_signed {
            // For a negative factor, the unsigned product exceeds the signed one by 2^64 times the other factor.
            for (factor, other) in [(x, y), (y, x)] {
                let (negative, zero) = (self.is_negative(factor), self.number(0, x));
                let too_much = self.terms.select(negative, other, zero);
                high = self.make(Sub, &[high, too_much]);
            }
        }
        high
    }

    fn saturating_product(&mut self, is_signed: bool, x: Term, y: Term, z: Term) -> Option<Term> {
        use Operation::*;
        let width = self.width(x);
        if width > 32 {
            return None;
        }
        let wide = Sort::Bits(64);
        let [x64, y64, z64] = [x, y, z].map(|v| self.resized(v, wide, is_signed));
        let product = self.make(Mul, &[x64, y64]);
        let sum = self.make(Add, &[product, z64]);
        Some(self.narrowed(sum, is_signed, is_signed, Sort::Bits(width)))
    }

    /// Converts an integer to a type that may not hold it, and saturates.
    pub(super) fn narrowed(&mut self, x: Term, was_signed: bool, is_signed: bool, to: Sort) -> Term {
        let (from, Sort::Bits(width)) = (self.width(x), to) else { return x };
        let (mut low, mut high) = (None, None);
        if was_signed {
            if !is_signed {
                low = Some(0);
            } else if width < from {
                low = Some(u64::MAX << (width - 1));
            }
        }
        let room = if is_signed { width - 1 } else { width };
        if room < if was_signed { from - 1 } else { from } {
            high = Some((1u64 << room) - 1);
        }
        let mut x = x;
        if let Some(low) = low {
            let low = self.number(low, x);
            x = self.greatest(was_signed, x, low);
        }
        if let Some(high) = high {
            let high = self.number(high, x);
            x = self.least(was_signed, x, high);
        }
        self.resized(x, to, was_signed)
    }

    /// Counts the zeros at the high or low end.
    fn zeros(&mut self, x: Term, high: bool) -> Term {
        let width = self.width(x);
        let mut count = self.number(width.into(), x);
        // The bit with the highest priority is selected last.
        for distance in (0..width).rev() {
            let at = if high { width - 1 - distance } else { distance };
            let bit = self.terms.apply(Operation::Extract(at), vec![x], Sort::Bits(1));
            let number = self.number(distance.into(), x);
            count = self.terms.select(bit, number, count);
        }
        count
    }
}
