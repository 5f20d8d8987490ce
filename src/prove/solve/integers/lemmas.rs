//! What is known of products without asking a solver for non-linear arithmetic: products with a common factor `r`
//! are ordered as their other factors are, with gaps of at least `r`.

use std::collections::BTreeMap;

use z3::ast::{Bool, Int};

use super::algebra::Integers;
use super::polynomial::Monomial;

/// Most lemmas for one question.
const MAX_LEMMAS: usize = 1_500;

impl Integers {
    /// For products `x * r` and `y * r`: `r >= 0` and `x < y` imply `y * r >= x * r + r`, and so on.
    pub(super) fn lemmas(&mut self) -> Vec<Bool> {
        // A rest that is a product itself may be new: it gets an integer, and is no further product of the lemmas.
        let products: Vec<Monomial> = self.products.keys().cloned().collect();
        let mut by_rest: BTreeMap<Monomial, BTreeMap<Monomial, Monomial>> = BTreeMap::new();
        for product in products {
            for i in 0..product.len() {
                let mut rest = product.clone();
                let factor = vec![rest.remove(i)];
                if rest.len() > 1 {
                    let (single, others) = (factor.clone(), rest.clone());
                    by_rest.entry(single).or_default().entry(others).or_insert_with(|| product.clone());
                }
                by_rest.entry(rest).or_default().entry(factor).or_insert_with(|| product.clone());
            }
        }
        let zero = Int::from_i64(0);
        let mut lemmas = Vec::new();
        for (rest, products) in by_rest {
            let r = self.product(rest);
            let natural = r.ge(&zero);
            let mut all: Vec<(Int, Int)> = Vec::new();
            for (factor, product) in products {
                all.push((self.product(factor), self.product(product)));
            }
            for (x, xr) in &all {
                let positive = x.ge(Int::from_i64(1)).implies(xr.ge(&r));
                let negative = x.le(Int::from_i64(-1)).implies(xr.le(-&r));
                lemmas.push(natural.implies(Bool::and(&[positive, negative])));
                lemmas.push(x.eq(&zero).implies(xr.eq(&zero)));
                lemmas.push(r.eq(&zero).implies(xr.eq(&zero)));
                lemmas.push(x.eq(Int::from_i64(1)).implies(xr.eq(&r)));
            }
            for (i, (x, xr)) in all.iter().enumerate() {
                for (y, yr) in &all[i + 1..] {
                    let less = x.lt(y).implies(yr.ge(xr + &r));
                    let more = y.lt(x).implies(xr.ge(yr + &r));
                    lemmas.push(natural.implies(Bool::and(&[less, more])));
                    lemmas.push(x.eq(y).implies(xr.eq(yr)));
                }
                if lemmas.len() > MAX_LEMMAS {
                    return lemmas;
                }
            }
        }
        lemmas
    }
}
