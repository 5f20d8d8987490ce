//! Ranges of integers; a missing end is infinite.

use super::polynomial::Polynomial;

/// All integers from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    /// The least; `None` if there is none.
    pub low: Option<i128>,
    /// The greatest; `None` if there is none.
    pub high: Option<i128>,
}

impl Range {
    /// All integers.
    pub const ALL: Range = Range { low: None, high: None };

    /// From `low` to `high`.
    pub fn new(low: i128, high: i128) -> Range {
        Range { low: Some(low), high: Some(high) }
    }

    /// From `low` on.
    pub fn from(low: i128) -> Range {
        Range { low: Some(low), high: None }
    }

    /// The numbers that a signed integer of that many bits holds.
    pub fn signed(bits: u32) -> Range {
        let half = 1i128 << (bits.clamp(1, 100) - 1);
        Range::new(-half, half - 1)
    }

    /// Whether all its numbers are in another range.
    pub fn is_within(self, other: Range) -> bool {
        let low = other.low.is_none_or(|most| self.low.is_some_and(|low| low >= most));
        low && other.high.is_none_or(|least| self.high.is_some_and(|high| high <= least))
    }

    /// Whether it has no negative number.
    pub fn is_natural(self) -> bool {
        self.low.is_some_and(|low| low >= 0)
    }

    /// The least range that contains both.
    #[must_use]
    pub fn hull(self, other: Range) -> Range {
        let either = |a: Option<i128>, b: Option<i128>, pick: fn(i128, i128) -> i128| Some(pick(a?, b?));
        Range { low: either(self.low, other.low, i128::min), high: either(self.high, other.high, i128::max) }
    }

    /// The sums.
    #[must_use]
    pub fn plus(self, other: Range) -> Range {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Range { low: sum(self.low, other.low), high: sum(self.high, other.high) }
    }

    /// The products.
    #[must_use]
    pub fn times(self, other: Range) -> Range {
        let zero = Range::new(0, 0);
        if self == zero || other == zero {
            return zero;
        }
        if let (Some(a), Some(b), Some(c), Some(d)) = (self.low, self.high, other.low, other.high) {
            let products = [a.checked_mul(c), a.checked_mul(d), b.checked_mul(c), b.checked_mul(d)];
            if let [Some(p), Some(q), Some(r), Some(s)] = products {
                return Range::new(p.min(q).min(r).min(s), p.max(q).max(r).max(s));
            }
        }
        match (self.low, other.low) {
            (Some(a), Some(b)) if a >= 0 && b >= 0 => Range { low: a.checked_mul(b), high: None },
            _ => Range::ALL,
        }
    }

    /// The values of a polynomial, given those of its symbols.
    pub fn of(polynomial: &Polynomial, symbol: impl Fn(u32) -> Range) -> Range {
        polynomial.terms().fold(Range::new(0, 0), |sum, (monomial, coefficient)| {
            let one = Range::new(coefficient, coefficient);
            sum.plus(monomial.iter().fold(one, |product, s| product.times(symbol(*s))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_sums_contain_all_results() {
        let (a, b) = (Range::new(-3, 5), Range::new(-2, 7));
        for x in -3..=5 {
            for y in -2..=7 {
                assert!(Range::new(x * y, x * y).is_within(a.times(b)));
                assert!(Range::new(x + y, x + y).is_within(a.plus(b)));
            }
        }
        assert_eq!(Range::from(2).times(Range::from(3)), Range::from(6));
        assert_eq!(Range::from(-2).times(Range::from(3)), Range::ALL);
        assert_eq!(Range::from(2).times(Range::new(0, 0)), Range::new(0, 0));
        assert!(!Range::from(0).is_within(Range::signed(32)) && Range::new(0, 9).is_within(Range::signed(32)));
        assert_eq!(Range::new(1, 2).hull(Range::from(0)), Range::from(0));
        let p = Polynomial::symbol(0).plus(&Polynomial::constant(4), -1).unwrap();
        assert_eq!(Range::of(&p, |_| Range::new(0, 10)), Range::new(-4, 6));
    }
}
