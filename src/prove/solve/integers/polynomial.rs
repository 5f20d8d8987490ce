//! Polynomials over symbols that stand for integers.

use std::collections::BTreeMap;

/// A symbol: its number in [`super::Integers`].
pub type Symbol = u32;

/// A product of symbols, in ascending order; empty for the constant term.
pub type Monomial = Vec<Symbol>;

/// A sum of products with integer coefficients, none of which is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polynomial(BTreeMap<Monomial, i128>);

impl Polynomial {
    /// The number itself.
    pub fn constant(number: i128) -> Polynomial {
        Polynomial::term(Monomial::new(), number)
    }

    /// One symbol.
    pub fn symbol(symbol: Symbol) -> Polynomial {
        Polynomial::term(vec![symbol], 1)
    }

    /// One product with its coefficient.
    pub fn term(monomial: Monomial, coefficient: i128) -> Polynomial {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(monomial, coefficient);
        }
        Polynomial(terms)
    }

    /// Its products with their coefficients, in ascending order.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.0.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    /// The number of its products.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The coefficient of a product; 0 if it has none.
    pub fn coefficient(&self, monomial: &[Symbol]) -> i128 {
        self.0.get(monomial).copied().unwrap_or(0)
    }

    /// The number, if it is one.
    pub fn as_constant(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Monomial::new()).copied(),
            _ => None,
        }
    }

    /// The symbol, if it is one.
    pub fn as_symbol(&self) -> Option<Symbol> {
        match self.0.first_key_value() {
            Some((monomial, 1)) if self.0.len() == 1 && monomial.len() == 1 => Some(monomial[0]),
            _ => None,
        }
    }

    /// The sum of this and `factor` times another one; `None` if a coefficient exceeds 128 bits.
    pub fn plus(&self, other: &Polynomial, factor: i128) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (monomial, coefficient) in other.terms() {
            sum.add(monomial.clone(), coefficient.checked_mul(factor)?)?;
        }
        Some(sum)
    }

    /// The product; `None` if a coefficient exceeds 128 bits.
    pub fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (left, a) in self.terms() {
            for (right, b) in other.terms() {
                let mut monomial: Monomial = left.iter().chain(right).copied().collect();
                monomial.sort_unstable();
                product.add(monomial, a.checked_mul(b)?)?;
            }
        }
        Some(product)
    }

    /// The quotient by a number that divides all coefficients; `None` if it does not.
    pub fn divided(&self, divisor: i128) -> Option<Polynomial> {
        let quotient = |(monomial, coefficient): (&Monomial, &i128)| {
            (divisor != 0 && coefficient % divisor == 0).then(|| (monomial.clone(), coefficient / divisor))
        };
        Some(Polynomial(self.0.iter().map(quotient).collect::<Option<_>>()?))
    }

    fn add(&mut self, monomial: Monomial, coefficient: i128) -> Option<()> {
        let sum = self.coefficient(&monomial).checked_add(coefficient)?;
        match sum {
            0 => _ = self.0.remove(&monomial),
            _ => _ = self.0.insert(monomial, sum),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_in_normal_form() {
        let (x, y) = (Polynomial::symbol(0), Polynomial::symbol(1));
        let sum = x.plus(&y, 1).unwrap();
        let difference = x.plus(&y, -1).unwrap();
        let product = sum.times(&difference).unwrap();
        let squares = Polynomial::term(vec![0, 0], 1).plus(&Polynomial::term(vec![1, 1], 1), -1).unwrap();
        assert_eq!(product, squares);
        assert_eq!(product.coefficient(&[0, 1]), 0);
        assert!(sum.plus(&sum, -1).unwrap().is_zero());
        assert_eq!(Polynomial::constant(7).as_constant(), Some(7));
        assert_eq!((sum.as_symbol(), y.as_symbol()), (None, Some(1)));
        assert_eq!(Polynomial::constant(12).plus(&x, 6).unwrap().divided(6), Polynomial::constant(2).plus(&x, 1));
        assert_eq!(Polynomial::constant(7).divided(2), None);
        assert_eq!(Polynomial::constant(i128::MAX).plus(&Polynomial::constant(1), 1), None);
    }
}
