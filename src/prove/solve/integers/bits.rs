//! Operations that are not those of a ring: quotients, shifts, masks, other widths.

use super::algebra::{Bitwise, Integers, Meaning};
use super::fact::Fact;
use super::polynomial::Polynomial;
use super::range::Range;

impl Integers {
    fn meant(&mut self, meaning: Meaning, make: impl FnOnce(&mut Integers) -> Polynomial) -> Polynomial {
        if let Some(known) = self.meanings.get(&meaning) {
            return known.clone();
        }
        let value = make(self);
        self.meanings.insert(meaning, value.clone());
        value
    }

    /// A result of which only the range is known: the same for the same operands.
    pub fn opaque(&mut self, name: &'static str, left: &Polynomial, right: &Polynomial, range: Range) -> Polynomial {
        let meaning = Meaning::Operation(name, left.clone(), right.clone());
        self.meant(meaning, |all| all.fresh(name, range))
    }

    /// The value as an unsigned number of `bits` bits.
    pub fn unsigned_value(&mut self, value: &Polynomial, bits: u32) -> Polynomial {
        if self.is_natural(value) {
            return value.clone();
        }
        let negative = self.below(value, &Polynomial::default());
        let wrapped = self.add(value, &Polynomial::constant(1i128 << bits.min(100)));
        self.choose(&negative, &wrapped, value)
    }

    /// The low `bits` bits as a signed number, where those above may not be a copy of its sign.
    pub fn low(&mut self, value: &Polynomial, bits: u32) -> Polynomial {
        if self.range(value).is_within(Range::signed(bits)) {
            return value.clone();
        }
        self.meant(Meaning::Low(value.clone(), bits), |all| all.fresh("low", Range::signed(bits)))
    }

    /// Quotient and remainder, rounded down; known only for a divisor of at least 1, and for one that is no number only
    /// if the value is natural.
    pub fn divide(&mut self, value: &Polynomial, divisor: &Polynomial) -> (Polynomial, Polynomial) {
        let number = divisor.as_constant();
        if let (Some(n @ 1..), Some(value)) = (number, value.as_constant()) {
            return (Polynomial::constant(value.div_euclid(n)), Polynomial::constant(value.rem_euclid(n)));
        }
        if let Some(exact) = number.filter(|n| *n >= 1).and_then(|n| value.divided(n)) {
            return (exact, Polynomial::default());
        }
        let meaning = Meaning::Quotient(value.clone(), divisor.clone());
        let range = self.range(value);
        let natural = range.is_natural();
        let limits = match (number, range) {
            (Some(n @ 1..), Range { low, high }) => {
                Range { low: low.map(|low| low.div_euclid(n)), high: high.map(|high| high.div_euclid(n)) }
            }
            (None, Range { high, .. }) if natural && self.range(divisor).low.is_some_and(|low| low >= 1) => {
                Range { low: Some(0), high }
            }
            _ => Range::ALL,
        };
        if let Some(quotient) = self.meanings.get(&meaning).cloned() {
            let product = self.multiply(&quotient, divisor);
            return (quotient, self.subtract(value, &product));
        }
        let quotient = self.fresh("quotient", limits);
        self.meanings.insert(meaning, quotient.clone());
        let product = self.multiply(&quotient, divisor);
        let rest = self.subtract(value, &product);
        let zero = Polynomial::default();
        let within = [self.at_most(&zero, &rest), self.below(&rest, divisor)];
        match number {
            Some(1..) => within.iter().for_each(|fact| self.assert(fact)),
            _ => {
                let one = Polynomial::constant(1);
                let known = [self.at_most(&zero, value), self.at_most(&one, divisor)];
                let limits = [self.at_most(&zero, &quotient), self.at_most(&quotient, value)];
                let holds = Fact::all(within.into_iter().chain(limits));
                self.assert(&Fact::all(known).implies(&holds));
            }
        }
        (quotient, rest)
    }

    /// The quotient that is rounded towards zero, or its remainder, of values of `bits` bits. `name`, LLVM's of the
    /// operation, distinguishes them.
    pub fn truncated(&mut self, name: &'static str, value: &Polynomial, divisor: &Polynomial, bits: u32) -> Polynomial {
        let (quotient, rest) = self.divide(value, divisor);
        let wanted = if name.ends_with("div") { quotient } else { rest };
        let positive = self.range(divisor).low.is_some_and(|low| low >= 1);
        if self.is_natural(value) && positive {
            return wanted;
        }
        let other = self.opaque(name, value, divisor, Range::signed(bits));
        let (zero, one) = (Polynomial::default(), Polynomial::constant(1));
        let known = self.at_most(&zero, value).and(&self.at_most(&one, divisor));
        self.choose(&known, &wanted, &other)
    }

    /// 2 to that power, of which only is known that it is at least 1 if it is no number.
    pub fn power_of_two(&mut self, exponent: &Polynomial) -> Polynomial {
        match exponent.as_constant() {
            Some(exponent @ 0..=100) => Polynomial::constant(1i128 << exponent),
            _ => self.meant(Meaning::PowerOfTwo(exponent.clone()), |all| all.fresh("power", Range::from(1))),
        }
    }

    /// A shift to the right, of a value of `bits` bits.
    pub fn shift_right(&mut self, value: &Polynomial, by: &Polynomial, bits: u32, is_signed: bool) -> Polynomial {
        let divisor = self.power_of_two(by);
        let (quotient, _) = self.divide(value, &divisor);
        if is_signed || self.is_natural(value) {
            return quotient;
        }
        let mut limits = Range::signed(bits);
        if self.range(by).low.is_some_and(|by| by >= 1) {
            limits.low = Some(0);
        }
        let other = self.opaque("lshr", value, by, limits);
        let natural = self.at_most(&Polynomial::default(), value);
        self.choose(&natural, &quotient, &other)
    }

    /// A bitwise operation on values of `bits` bits.
    pub fn bitwise(&mut self, operation: Bitwise, left: &Polynomial, right: &Polynomial, bits: u32) -> Polynomial {
        let numbers = (left.as_constant(), right.as_constant());
        if let (Some(a), Some(b)) = numbers {
            return Polynomial::constant(match operation {
                Bitwise::And => a & b,
                Bitwise::Or => a | b,
                Bitwise::Xor => a ^ b,
            });
        }
        for (value, mask) in [(left, numbers.1), (right, numbers.0)] {
            match (operation, mask) {
                (Bitwise::And, Some(0)) => return Polynomial::default(),
                // Low bits are what remains of a division, also of a negative number.
                (Bitwise::And, Some(mask @ 1..)) if mask & (mask + 1) == 0 => {
                    return self.divide(value, &Polynomial::constant(mask + 1)).1;
                }
                (Bitwise::And, Some(mask @ ..=-1)) if -mask & (-mask - 1) == 0 => {
                    let low = self.divide(value, &Polynomial::constant(-mask)).1;
                    return self.subtract(value, &low);
                }
                (Bitwise::Or | Bitwise::Xor, Some(0)) => return value.clone(),
                (Bitwise::Xor, Some(-1)) => return self.subtract(&Polynomial::constant(-1), value),
                _ => {}
            }
        }
        let (a, b) = if left <= right { (left.clone(), right.clone()) } else { (right.clone(), left.clone()) };
        let meaning = Meaning::Bits(operation, a.clone(), b.clone());
        if let Some(known) = self.meanings.get(&meaning) {
            return known.clone();
        }
        let value = self.fresh("bits", Range::signed(bits));
        self.meanings.insert(meaning, value.clone());
        let zero = Polynomial::default();
        let natural = [self.at_most(&zero, &a), self.at_most(&zero, &b)];
        let both = Fact::all(natural.clone());
        let above = self.at_most(&zero, &value);
        match operation {
            Bitwise::And => {
                for (side, natural) in [&a, &b].into_iter().zip(&natural) {
                    let within = above.and(&self.at_most(&value, side));
                    self.assert(&natural.implies(&within));
                }
            }
            Bitwise::Or => {
                let sum = self.add(&a, &b);
                let limits = [self.at_most(&a, &value), self.at_most(&b, &value), self.at_most(&value, &sum)];
                self.assert(&both.implies(&Fact::all(limits)));
            }
            Bitwise::Xor => {
                let sum = self.add(&a, &b);
                let within = above.and(&self.at_most(&value, &sum));
                self.assert(&both.implies(&within));
                self.relate_exclusive(&a, &b, &value);
            }
        }
        value
    }

    /// `a ^ c` and `b ^ c` are equal if and only if `a` and `b` are, and `a ^ c == b` if and only if `b ^ c == a`.
    fn relate_exclusive(&mut self, left: &Polynomial, right: &Polynomial, value: &Polynomial) {
        let mut others = Vec::new();
        for (meaning, other) in &self.meanings {
            if let Meaning::Bits(Bitwise::Xor, a, b) = meaning
                && other != value
            {
                others.push((a.clone(), b.clone(), other.clone()));
            }
        }
        others.sort();
        for (a, b, other) in others {
            for (x, common) in [(left, right), (right, left)] {
                for (y, too) in [(&a, &b), (&b, &a)] {
                    if common != too {
                        continue;
                    }
                    let same = self.equal(x, y).same(&self.equal(value, &other));
                    let crossed = self.equal(x, &other).same(&self.equal(y, value));
                    self.assert(&same.and(&crossed));
                }
            }
        }
    }
}
